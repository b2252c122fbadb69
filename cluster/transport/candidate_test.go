package transport

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// startTrio starts three voters that all have one write, and returns the leader and the others.
func startTrio(t *testing.T) (r *raftCluster, leader, one, other *raftNode) {
	t.Helper()
	r = newRaftCluster(t, 3)
	r.start()
	leader = r.leader()
	others(r, leader, func(n *raftNode) { one, other = n, one })
	r.mustPut(leader, "k", 1)
	time.Sleep(time.Second)
	return r, leader, one, other
}

// If the leader is lost just after it has made a node a voter, that node is elected, by a voter
// that does not know of it yet. It alone has what the leader has committed.
func TestAVoterThatAnotherDoesNotKnowYetIsElected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, lost, made, late := startTrio(t)
		if err := lost.raft.DemoteVoter(made.id, 0, time.Second).Error(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // late has it too
		r.net.block(lost.addr, late.addr, true)
		if err := lost.raft.AddVoter(made.id, made.addr, 0, time.Second).Error(); err != nil {
			t.Fatal(err)
		}
		r.mustPut(lost, "k", 2)
		for _, s := range late.raft.GetConfiguration().Configuration().Servers {
			if s.ID == made.id && s.Suffrage == raft.Voter {
				t.Fatal("the late node knows the new voter already")
			}
		}
		r.crash(lost)
		next := r.leaderOtherThan(lost, 30*time.Second)
		if next != made {
			t.Fatalf("%v leads, not %s", next, made.id)
		}
		r.mustPut(next, "j", 3)
		time.Sleep(time.Second)
		if late.machine.get("k") != 2 || late.machine.get("j") != 3 || r.diverged() != "" {
			t.Errorf("the late node has k=%d and j=%d; %s", late.machine.get("k"), late.machine.get("j"), r.diverged())
		}
	})
}

// A node that was demoted and does not know it yet is refused as before: its log is shorter.
func TestADemotedNodeIsNotElectedByThoseWhoKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, lead, demoted, other := startTrio(t)
		r.net.block(lead.addr, demoted.addr, true)
		if err := lead.raft.DemoteVoter(demoted.id, 0, time.Second).Error(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		r.crash(lead)
		if next := r.leaderOtherThan(lead, 10*time.Second); next != nil {
			t.Errorf("%s leads, and %s alone is a voter", next.id, other.id)
		}
	})
}
