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

// owners remembers where the instances of each partition are kept, as nodes
// that had to pass a call on have told: the next one goes there at once. It is
// advice alone. Any node takes any call, so what is stale costs the hop that it
// was to save, and its answer tells better.
//
// It holds a place for each partition, and connections to at most endpointsMax
// nodes. None is waited for: while one is being made, calls go where they went.
type owners struct {
	dial func(addr string) (*grpc.ClientConn, error)

	mu     sync.Mutex
	at     [placement.Partitions]string // a partition's node, by its gRPC address; "" where nothing is known
	conns  map[string]*ownerConn
	closed bool
}

// ownerConn is a connection to a node. A server that is leaving ends the calls
// that it has, though its connection is idle by then: only calls says whether
// there are any.
type ownerConn struct {
	*grpc.ClientConn
	calls int // under way over it; guarded by owners.mu
}

func newOwners(dial func(string) (*grpc.ClientConn, error)) *owners {
	return &owners{dial: dial, conns: map[string]*ownerConn{}}
}

// direct is the way to one partition's owner. A nil one knows none.
type direct struct {
	owners    *owners
	partition int
}

func (o *owners) of(ref agent.InstanceRef) *direct {
	return &direct{owners: o, partition: placement.Partition(ref.Scope, ref.Manager, ref.Key)}
}

// conn is a connection to the owner, or nil if there is none that is up.
// release is to be called when the call over it has ended.
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
	case connectivity.Idle: // nobody called for a while
		at.Connect()
	case connectivity.TransientFailure, connectivity.Shutdown:
		o.at[d.partition] = ""
	case connectivity.Connecting:
	}
	return nil, nil
}

// failed forgets the owner: another may own the partition by now.
func (d *direct) failed() {
	d.owners.mu.Lock()
	defer d.owners.mu.Unlock()
	d.owners.at[d.partition] = ""
}

// heard takes in what the headers of an answer tell about the owner.
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

// connect begins to connect to a node. mu is held.
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

// drop closes the connections that are not up and over which no call is under
// way. mu is held.
func (o *owners) drop() {
	for addr, conn := range o.conns {
		if s := conn.GetState(); conn.calls == 0 && s != connectivity.Ready && s != connectivity.Connecting {
			_ = conn.Close() // there is nothing to lose
			delete(o.conns, addr)
		}
	}
}

// close ends all connections, and what is under way over them.
func (o *owners) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for _, conn := range o.conns {
		_ = conn.Close()
	}
	clear(o.conns)
}

// hearing is a connection whose answers tell d about the owner.
type hearing struct {
	*grpc.ClientConn
	d *direct
}

// Invoke implements grpc.ClientConnInterface.
func (h hearing) Invoke(ctx context.Context, method string, args, reply any, options ...grpc.CallOption) error {
	var headers metadata.MD
	err := h.ClientConn.Invoke(ctx, method, args, reply, append(options, grpc.Header(&headers))...)
	h.d.heard(headers)
	return err
}
