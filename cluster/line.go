package cluster

import (
	"context"
	"fmt"
	"net"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// Line is how a host, which has no group, speaks with nodes and other hosts:
// over connections that have shaken hands under its name. Each Line is another
// life of it. Its methods may be called concurrently.
type Line struct {
	id     *identity
	stream *stream
}

// OpenLine takes the address to listen on; nothing is served before Run. nil
// means TCP. advertise is where others reach it; "" means the listener's.
func OpenLine(name string, network Network, listen, advertise string, logger hclog.Logger) (*Line, error) {
	id, err := loadIdentity(name, raft.NewInmemStore())
	if err != nil {
		return nil, err
	}
	if network == nil {
		network = TCP{}
	}
	s, err := newStream(&Options{Network: network, Listen: listen, Advertise: advertise}, id, logger)
	if err != nil {
		return nil, err
	}
	s.gone = func() { id.setRemoved() }
	return &Line{id, s}, nil
}

// Run accepts connections until the line is closed or ctx ends.
func (l *Line) Run(ctx context.Context) error { return l.stream.serve(ctx) }

// Close stops listening and closes all connections.
func (l *Line) Close() error { return l.stream.Close() }

// Adopt makes the line a part of a cluster: before it, nodes tell a stranger no
// more than who they are. Connections are made anew, once.
func (l *Line) Adopt(cluster string) error {
	if l.id.clusterID() == cluster {
		return nil
	}
	if err := l.id.adopt(cluster); err != nil {
		return fmt.Errorf("adopt the cluster: %w", err)
	}
	l.stream.redial()
	return nil
}

// Removed tells whether a node has turned this life away for good: the host was
// removed from the cluster.
func (l *Line) Removed() bool { return l.id.isRemoved() }

// Incarnation is this life, and Life its process.
func (l *Line) Incarnation() string { return l.id.incarnation }

// Life is the process, as leases name it.
func (l *Line) Life() string { return l.id.run }

// Addr is where others reach the line.
func (l *Line) Addr() string { return l.stream.addr.String() }

// Listener yields the connections of others.
func (l *Line) Listener() net.Listener { return l.stream.peers }

// Dial connects to the peer address of a node or a host.
func (l *Line) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return l.stream.dial(ctx, addr, kindPeer)
}
