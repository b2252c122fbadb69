package membership

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster/clustertest"
	"dormouse/cluster/proposer"
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

func TestVotersStandInTurnIfAMajorityAgrees(t *testing.T) {
	lost := func(node string, last uint64) PeerStatus {
		return PeerStatus{Node: node, Term: 5, LastIndex: last, LeaderEnded: true}
	}
	later, behind, hears := lost("n3", 9), lost("n3", 9), lost("n3", 9)
	later.Term, behind.CatchingUp, hears.LeaderEnded = 6, true, false
	earlier, gone := lost("n3", 9), PeerStatus{}
	earlier.Term = 4
	for name, c := range map[string]struct {
		answers []PeerStatus // of the other voters; the leader does not answer
		rank    int
		agreed  bool
	}{
		"alone of two":                  {[]PeerStatus{gone}, 0, false},
		"two of three":                  {[]PeerStatus{gone, lost("n3", 9)}, 0, true},
		"one of three":                  {[]PeerStatus{gone, gone}, 0, false},
		"two of four":                   {[]PeerStatus{gone, lost("n3", 9), gone}, 0, false},
		"two of five":                   {[]PeerStatus{gone, lost("n3", 9), gone, gone}, 0, false},
		"three of five":                 {[]PeerStatus{gone, lost("n3", 9), lost("n4", 9), gone}, 0, true},
		"another has more entries":      {[]PeerStatus{gone, lost("n3", 11)}, 1, true},
		"another comes first by name":   {[]PeerStatus{gone, lost("n1", 10)}, 1, true},
		"another comes later by name":   {[]PeerStatus{gone, lost("n3", 10)}, 0, true},
		"one with more may not stand":   {[]PeerStatus{gone, {Node: "n3", Term: 5, LastIndex: 11, LeaderEnded: true, CatchingUp: true}}, 0, true},
		"one still hears the leader":    {[]PeerStatus{gone, hears}, 0, false},
		"one has not heard of the term": {[]PeerStatus{gone, earlier}, 0, false},
		"an election is under way":      {[]PeerStatus{lost("n4", 9), lost("n5", 9), later, gone}, 0, false},
		"one that is behind agrees":     {[]PeerStatus{gone, behind}, 0, true},
	} {
		rank, agreed := rankAmong(c.answers, PeerStatus{Node: "n2", Term: 5, LastIndex: 10})
		if agreed != c.agreed || agreed && rank != c.rank {
			t.Errorf("%s: rank %d, agreed %v; want %d, %v", name, rank, agreed, c.rank, c.agreed)
		}
	}
}

// A voter that is told to stand must win: the cluster writes nothing meanwhile.
func TestOnlyAVoterWithAllEntriesIsToldToStand(t *testing.T) {
	term := &proposer.Term{Number: 5, Opened: 8}
	all := PeerStatus{Node: "n2", Term: 5, CommitIndex: 8, LastIndex: 10}
	if !hasAll(all, "n2", term, 10) {
		t.Error("one that has all entries is not told")
	}
	for name, change := range map[string]func(s *PeerStatus){
		"another node at its address":     func(s *PeerStatus) { s.Node = "n3" },
		"in an earlier term":              func(s *PeerStatus) { s.Term = 4 },
		"in a later term":                 func(s *PeerStatus) { s.Term = 6 },
		"it may not vote":                 func(s *PeerStatus) { s.CatchingUp = true },
		"with entries of other leaders":   func(s *PeerStatus) { s.CommitIndex = 7 },
		"it lacks an entry of the leader": func(s *PeerStatus) { s.LastIndex = 9 },
	} {
		status := all
		if change(&status); hasAll(status, "n2", term, 10) {
			t.Errorf("%s: %+v", name, status)
		}
	}
}
