package client

import (
	"context"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/metadata"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/placement"
)

// owners caches the owner node of each partition, as learned from nodes that forwarded
// a call, so that the next call goes there directly. It is only a hint: any node
// accepts any call, so a stale entry costs one hop, and the answer corrects it.
//
// It holds an address for each partition, and connections to at most endpointsMax
// nodes: more than one to a node that has more than connCallsMax calls at once. Calls do
// not wait for a connection: until it is up, they go to other nodes.
type owners struct {
	dial func(addr string) (*grpc.ClientConn, error)

	mu     sync.Mutex
	at     [placement.Partitions]string // a partition's node, by its gRPC address; "" if unknown
	conns  map[string][]*sharedConn     // :: address → connections, at least one; guarded by mu
	closed bool
}

func newOwners(dial func(string) (*grpc.ClientConn, error)) *owners {
	return &owners{dial: dial, conns: map[string][]*sharedConn{}}
}

// direct is the owner of one partition. A nil direct knows no owner.
type direct struct {
	owners    *owners
	partition int
}

func (o *owners) of(ref agent.InstanceRef) *direct {
	return &direct{owners: o, partition: placement.Partition(ref.Scope, ref.Manager, ref.Key)}
}

// conn returns a connection to the owner, or nil if none is up. Call release when the
// call has ended.
func (d *direct) conn() (conn *grpc.ClientConn, release func()) {
	if d == nil {
		return nil, nil
	}
	o := d.owners
	o.mu.Lock()
	defer o.mu.Unlock()
	addr := o.at[d.partition]
	if len(o.conns[addr]) == 0 {
		return nil, nil
	}
	at := withRoom(o.conns[addr])
	if at == nil {
		o.connect(addr) // for later calls
		return nil, nil
	}
	switch at.GetState() {
	case connectivity.Ready:
		at.calls++
		return at.ClientConn, func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			at.calls--
		}
	case connectivity.Idle: // unused for a while
		at.Connect()
	case connectivity.TransientFailure, connectivity.Shutdown:
		o.at[d.partition] = ""
	case connectivity.Connecting:
	}
	return nil, nil
}

// failed removes the cached owner, because another node may own the partition now.
func (d *direct) failed() {
	d.owners.mu.Lock()
	defer d.owners.mu.Unlock()
	d.owners.at[d.partition] = ""
}

// heard stores the owner that the headers of an answer name.
func (d *direct) heard(headers metadata.MD) {
	told := headers.Get(convert.OwnerHeader)
	if d == nil || len(told) != 1 || !reachable(told[0]) {
		return
	}
	o := d.owners
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || len(o.conns[told[0]]) == 0 && !o.add(told[0]) {
		return
	}
	o.at[d.partition] = told[0]
}

// add adds a node, and starts to connect to it. mu is held.
func (o *owners) add(addr string) bool {
	if len(o.conns) >= endpointsMax {
		o.drop()
	}
	return len(o.conns) < endpointsMax && o.connect(addr)
}

// connect starts to make a connection to a node, which may have others. mu is held.
func (o *owners) connect(addr string) bool {
	conn, err := o.dial(addr)
	if err != nil {
		return false
	}
	conn.Connect()
	o.conns[addr] = append(o.conns[addr], &sharedConn{ClientConn: conn})
	return true
}

// drop closes the connections that are not up and have no running call. A server that shuts down finishes its
// running calls although the connection is idle by then; only calls says whether there are any. mu is held.
func (o *owners) drop() {
	for addr, conns := range o.conns {
		conns = slices.DeleteFunc(conns, func(conn *sharedConn) bool {
			s := conn.GetState()
			unused := conn.calls == 0 && s != connectivity.Ready && s != connectivity.Connecting
			if unused {
				_ = conn.Close() // it has no calls
			}
			return unused
		})
		if o.conns[addr] = conns; len(conns) == 0 {
			delete(o.conns, addr)
		}
	}
}

// close closes all connections, which ends their calls.
func (o *owners) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for _, conns := range o.conns {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}
	clear(o.conns)
}

// ownerHintConn is a connection that passes the headers of its answers to d.
type ownerHintConn struct {
	*grpc.ClientConn
	d *direct
}

// Invoke implements grpc.ClientConnInterface.
func (h ownerHintConn) Invoke(ctx context.Context, method string, args, reply any, options ...grpc.CallOption) error {
	var headers metadata.MD
	err := h.ClientConn.Invoke(ctx, method, args, reply, append(options, grpc.Header(&headers))...)
	h.d.heard(headers)
	return err
}
