package storage

import "errors"

// ErrForeign is wrapped if a data directory belongs to another cluster or was written by a newer
// version. The error says what to do.
var ErrForeign = errors.New("not this node's data")
