package transport

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// call gives a message from the network to n's guard and returns the error that
// the sender receives.
func (n *raftNode) call(command any) error {
	answered := make(chan raft.RPCResponse, 1)
	n.guard.take(raft.RPC{Command: command, RespChan: answered})
	return (<-answered).Error
}

func headerOf(id string) raft.RPCHeader {
	return raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(id), Addr: []byte(id)}
}

// One message with the highest of all terms must not keep a cluster from
// electing leaders, even if a member sends it.
func TestATermOutOfReachIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRaftCluster(t, 3)
		r.start()
		leader := r.leader()
		r.mustPut(leader, "x", 1)
		member := headerOf(string(leader.id))
		for _, n := range r.nodes {
			for _, term := range []uint64{math.MaxUint64 - 1, leader.raft.CurrentTerm() + termStepMax + 1} {
				for _, command := range []any{
					&raft.AppendEntriesRequest{RPCHeader: member, Term: term},
					&raft.RequestVoteRequest{RPCHeader: member, Term: term},
					&raft.RequestPreVoteRequest{RPCHeader: member, Term: term},
					&raft.InstallSnapshotRequest{RPCHeader: member, Term: term},
				} {
					if err := n.call(command); err == nil || !strings.Contains(err.Error(), "no election can lie so far ahead") {
						t.Errorf("%s: %T of term %d: %v", n.id, command, term, err)
					}
				}
			}
		}
		r.net.isolate(leader.addr)
		next := r.leaderOtherThan(leader, 20*time.Second)
		if next == nil {
			t.Fatal("no leader was elected afterwards")
		}
		if term := next.raft.CurrentTerm(); term > 1000 {
			t.Errorf("the cluster is in term %d", term)
		}
	})
}

// A node that no configuration names cannot send entries to a node that follows
// a leader. A node without a leader takes them: see checkSender.
func TestEntriesFromANodeThatIsNoMemberAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRaftCluster(t, 3)
		r.start()
		leader := r.leader()
		r.mustPut(leader, "x", 1)
		term := leader.raft.CurrentTerm()
		strange := func() any { return &raft.AppendEntriesRequest{RPCHeader: headerOf("stranger"), Term: term + 1} }
		for _, n := range r.nodes {
			if err := n.call(strange()); err == nil || !strings.Contains(err.Error(), "no member of this cluster") {
				t.Errorf("%s: %v", n.id, err)
			}
			if n.raft.CurrentTerm() != term {
				t.Errorf("%s went to term %d", n.id, n.raft.CurrentTerm())
			}
		}
		var alone *raftNode
		others(r, leader, func(n *raftNode) { alone = n })
		r.net.isolate(alone.addr)
		time.Sleep(2 * strangerQuiet)
		if err := alone.call(strange()); err != nil {
			t.Errorf("a node without a leader: %v", err)
		}
	})
}
