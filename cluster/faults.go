package cluster

import "errors"

// What a start-up can fail with that an operator must tell apart, beside the errors
// of the log's stores. Each is wrapped by an error that says where and what to do.
var (
	// ErrForeign: the directory belongs to another node, another cluster or a
	// newer format.
	ErrForeign = errors.New("not this node's data")

	// ErrListen: the address cannot be listened on.
	ErrListen = errors.New("cannot listen")
)
