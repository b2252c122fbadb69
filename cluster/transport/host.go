package transport

import (
	"context"
	"fmt"
	"net"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/cluster/keys"
)

// HostTransport connects a host process, which takes no part in Raft, with
// nodes and other hosts. Each HostTransport has an incarnation of its own. Its
// methods may be called concurrently.
type HostTransport struct {
	self   *Self
	stream *Stream
}

// HostOptions configures a HostTransport.
type HostOptions struct {
	Name      string
	Key       keys.HostKey
	Network   Network // nil means TCP
	Listen    string  // address to listen on
	Advertise string  // address that others reach the host at; "" means the listener's
	Logger    hclog.Logger
}

// ListenHost listens for a host. It serves nothing before Run.
func ListenHost(o HostOptions) (*HostTransport, error) {
	self, err := LoadSelf(o.Name, raft.NewInmemStore())
	if err != nil {
		return nil, err
	}
	s, err := Listen(Options{
		Network: o.Network, Listen: o.Listen, Advertise: o.Advertise, Keys: o.Key.Credentials(), Logger: o.Logger, OnRemoved: func() { self.SetRemoved() },
	}, self)
	if err != nil {
		return nil, err
	}
	return &HostTransport{self, s}, nil
}

// Run accepts connections until Close is called or ctx ends.
func (h *HostTransport) Run(ctx context.Context) error { return h.stream.Serve(ctx) }

// Close stops listening and closes all connections.
func (h *HostTransport) Close() error { return h.stream.Close() }

// Adopt makes the host a part of a cluster. Nodes tell a host that belongs to
// none only who they are. The first call closes all connections, so that
// callers dial again as a member of the cluster.
func (h *HostTransport) Adopt(cluster string) error {
	if h.self.ClusterID() == cluster {
		return nil
	}
	if err := h.self.Adopt(cluster); err != nil {
		return fmt.Errorf("adopt the cluster: %w", err)
	}
	h.stream.Redial()
	return nil
}

// Removed reports whether a node has refused a connection because the cluster
// removed this host.
func (h *HostTransport) Removed() bool { return h.self.Removed() }

// Incarnation returns the incarnation of this host.
func (h *HostTransport) Incarnation() string { return h.self.Incarnation }

// Process returns the id of this process, as leases name it.
func (h *HostTransport) Process() string { return h.self.Process }

// Addr returns the address that others reach the host at.
func (h *HostTransport) Addr() string { return h.stream.Addr() }

// Listener returns the listener of the connections that others make.
func (h *HostTransport) Listener() net.Listener { return h.stream.PeerListener() }

// Dial connects to the peer address of a node or a host.
func (h *HostTransport) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return h.stream.DialPeer(ctx, addr)
}
