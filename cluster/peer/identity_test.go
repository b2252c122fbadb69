package peer

import (
	"context"
	"errors"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/test/bufconn"

	"dormouse/agent"
	"dormouse/cluster/assign"
	"dormouse/cluster/keys"
	"dormouse/cluster/membership"
	"dormouse/cluster/transport"
)

// proved gives each connection to a server the same identity.
type proved struct {
	handshaken
	caller transport.Identity
}

func (p proved) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return c, member{p.caller}, nil
}

func (p proved) Clone() credentials.TransportCredentials { return p }

// poolOf returns a pool of a caller that has proved an identity to a server with the options of peers.
func poolOf(t *testing.T, caller transport.Identity, register func(*grpc.Server)) *Pool {
	t.Helper()
	port := func(credentials.TransportCredentials, grpc.StreamServerInterceptor) credentials.TransportCredentials {
		return proved{caller: caller}
	}
	listener, server := bufconn.Listen(1<<20), grpc.NewServer(ServerOptions(port)...)
	register(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil && !errors.Is(err, grpc.ErrServerStopped) { // before it began
			t.Error(err)
		}
	})
	pool := NewPool(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) })
	t.Cleanup(pool.Close)
	return pool
}

// noting notes what it is asked for.
type noting struct {
	Node
	owned, changed, asked int
	own                   assign.Request
}

func (n *noting) LocalStatus() membership.PeerStatus { return membership.PeerStatus{Node: "n1"} }

func (n *noting) HandleAssign(_ context.Context, r assign.Request) assign.Response {
	n.owned++
	n.own = r
	return assign.Response{}
}

func (n *noting) HandleChange(context.Context, string, string) membership.ChangeResponse {
	n.changed++
	return membership.ChangeResponse{}
}

func (n *noting) BarrierFor(_ context.Context, node string, _, _ uint64) (uint64, error) {
	if node != "n2" {
		return 0, agent.Errorf(agent.CodeInvalid, "the caller is %q", node)
	}
	n.asked++
	return 7, nil
}

// A server checks each call and each stream before it serves it.
func TestAServerServesMembersOnly(t *testing.T) {
	for _, c := range []struct {
		cluster string
		served  int
	}{{"", 0}, {"c", 1}} {
		n := &noting{}
		pool := poolOf(t, transport.Identity{Role: keys.Node, Node: "n2", ClusterID: c.cluster}, func(s *grpc.Server) { Register(s, n) })
		_, err := pool.Change(t.Context(), "n1", "remove", "n3")
		if n.changed != c.served || (err == nil) != (c.served == 1) {
			t.Errorf("of cluster %q: %d changes, %v", c.cluster, n.changed, err)
		}
		_, err = pool.Barrier(t.Context(), "n1", 0)
		if n.asked != c.served || (err == nil) != (c.served == 1) {
			t.Errorf("of cluster %q: %d streams, %v", c.cluster, n.asked, err)
		}
	}
}

// A request for leases and partitions is in the name of its sender, whose role the handshake has proved.
func TestARequestForPartitionsIsInTheSendersOwnName(t *testing.T) {
	for name, c := range map[string]struct {
		role   keys.Role
		asked  assign.Request
		served bool
	}{
		"a node":                  {keys.Node, assign.Request{Node: "n2", Incarnation: "i"}, true},
		"a host":                  {keys.Host, assign.Request{Node: "n2", Incarnation: "i"}, true},
		"another node's name":     {keys.Node, assign.Request{Node: "n3", Incarnation: "i"}, false},
		"another data directory":  {keys.Node, assign.Request{Node: "n2", Incarnation: "j"}, false},
		"a host, in another name": {keys.Host, assign.Request{Node: "n3", Incarnation: "i"}, false},
	} {
		n := &noting{}
		caller := transport.Identity{Role: c.role, ClusterID: "c", Node: "n2", Incarnation: "i"}
		pool := poolOf(t, caller, func(s *grpc.Server) { Register(s, n) })
		_, err := pool.Own(t.Context(), "n1", c.asked)
		if (err == nil) != c.served || (n.owned == 1) != c.served || c.served && n.own.FromHost != (c.role == keys.Host) {
			t.Errorf("%s: %v, %d served: %+v", name, err, n.owned, n.own)
		}
	}
}

// A node that has answered is known to be alive since then. Any answer of a process counts: a host says
// that it has no status.
func TestAnAnswerIsASignOfLife(t *testing.T) {
	caller := transport.Identity{Role: keys.Node, ClusterID: "c", Node: "n2"}
	pool := poolOf(t, caller, func(s *grpc.Server) { Register(s, &noting{}) })
	if at := pool.LastContact("n1"); at != 0 {
		t.Errorf("before a call: %d", at)
	}
	if s, err := pool.Status(t.Context(), "n1"); err != nil || s.Node != "n1" || pool.LastContact("n1") == 0 {
		t.Errorf("%+v, %v, last contact %d", s, err, pool.LastContact("n1"))
	}
	host := poolOf(t, caller, func(*grpc.Server) {})
	if err := host.Ping(t.Context(), "h1"); err != nil {
		t.Errorf("a host: %v", err)
	}
}
