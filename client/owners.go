package client

import (
	"context"
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
// nodes. Calls do not wait for a connection: until it is up, they go to other nodes.
type owners struct {
	dial func(addr string) (*grpc.ClientConn, error)

	mu     sync.Mutex
	at     [placement.Partitions]string // a partition's node, by its gRPC address; "" if unknown
	conns  map[string]*ownerConn
	closed bool
}

// ownerConn is a connection to a node. A server that shuts down finishes its running
// calls although the connection is idle by then; only calls says whether there are
// any.
type ownerConn struct {
	*grpc.ClientConn
	calls int // running calls; guarded by owners.mu
}

func newOwners(dial func(string) (*grpc.ClientConn, error)) *owners {
	return &owners{dial: dial, conns: map[string]*ownerConn{}}
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
	at := o.conns[o.at[d.partition]]
	if at == nil {
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
	if o.closed || o.conns[told[0]] == nil && !o.connect(told[0]) {
		return
	}
	o.at[d.partition] = told[0]
}

// connect starts to connect to a node. mu is held.
func (o *owners) connect(addr string) bool {
	if len(o.conns) >= endpointsMax {
		o.drop()
	}
	if len(o.conns) >= endpointsMax {
		return false
	}
	conn, err := o.dial(addr)
	if err != nil {
		return false
	}
	conn.Connect()
	o.conns[addr] = &ownerConn{ClientConn: conn}
	return true
}

// drop closes the connections that are not up and have no running call. mu is held.
func (o *owners) drop() {
	for addr, conn := range o.conns {
		if s := conn.GetState(); conn.calls == 0 && s != connectivity.Ready && s != connectivity.Connecting {
			_ = conn.Close() // it has no calls
			delete(o.conns, addr)
		}
	}
}

// close closes all connections, which ends their calls.
func (o *owners) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for _, conn := range o.conns {
		_ = conn.Close()
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
