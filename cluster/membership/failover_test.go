package membership

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster/clustertest"
	"dormouse/cluster/transport"
)

// listening returns a stream of a new process of a node.
func listening(t *testing.T, network *clustertest.Network, node string, stable raft.StableStore) (*transport.Stream, *transport.Self) {
	t.Helper()
	self, err := transport.LoadSelf(node, stable)
	if err != nil {
		t.Fatal(err)
	}
	s, err := transport.Listen(transport.Options{Network: network.Host(node), Listen: node + ":raft", Keys: clustertest.Keys}, self)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(t.Context()) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s, self
}

// A process has ended if its port refuses, or if another process answers there.
func TestAProcessHasEndedIfAnotherOneAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := clustertest.NewNetwork()
		mine, _ := listening(t, network, "n1", raft.NewInmemStore())
		disk := raft.NewInmemStore()
		first, before := listening(t, network, "n2", disk)
		f := NewFailover()
		f.Stream, f.Timing.Probe = mine, 200*time.Millisecond
		ended := func(process string) bool {
			return f.hasEnded(t.Context(), "n2:raft", transport.Identity{Node: "n2", Process: process})
		}
		if ended(before.Process) {
			t.Error("a process that answers has ended")
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if !ended(before.Process) {
			t.Error("a process whose port refuses has not ended")
		}
		_, after := listening(t, network, "n2", disk)
		if !ended(before.Process) || ended(after.Process) {
			t.Error("two processes of one node are taken for one")
		}
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}
