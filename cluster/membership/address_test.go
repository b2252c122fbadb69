package membership

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/cluster/clustertest"
	"dormouse/cluster/transport"
)

// listen serves a node of a cluster until the test ends.
func listen(t *testing.T, net *clustertest.Network, name string, stable raft.StableStore) (*transport.Self, *transport.Stream) {
	t.Helper()
	self, err := transport.LoadSelf(name, stable)
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Adopt("the-cluster"); err != nil {
		t.Fatal(err)
	}
	s, err := transport.Listen(transport.Options{Keys: clustertest.Keys, Network: net.Host(name), Listen: name + ":raft", Logger: hclog.NewNullLogger()}, self)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background()) }()
	go func() {
		for {
			if _, err := s.PeerListener().Accept(); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return self, s
}

func TestTheOccupantOfAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, disk := clustertest.NewNetwork(), raft.NewInmemStore()
		self, stream := listen(t, net, "n1", disk)
		listen(t, net, "n2", raft.NewInmemStore())
		for addr, want := range map[string]occupant{"n1:raft": itself, "n2:raft": vacant, "n1:none": vacant} {
			if got := occupantOf(t.Context(), stream, addr, self.Incarnation, self.Process); got != want {
				t.Errorf("%s: %d, want %d", addr, got, want)
			}
		}
		if got := occupantOf(t.Context(), stream, "n1:raft", self.Incarnation, "another process"); got != duplicate {
			t.Errorf("another process with the same data: %d", got)
		}
		net.Block("n2", "n1")
		if got := occupantOf(t.Context(), stream, "n2:raft", self.Incarnation, self.Process); got != unknown {
			t.Errorf("a host that does not answer: %d", got)
		}
	})
}
