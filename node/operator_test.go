package node_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
)

func TestAChangeOfANodeThatIsNoMemberIsNotFoundSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		for _, through := range w.awake { // the leader or not
			for _, change := range []layout.Change{layout.ChangeLeave, layout.ChangePromote, layout.ChangeDemote, layout.ChangeTransfer} {
				if _, err := through.Operator().Change(t.Context(), change, "n9"); agent.CodeOf(err) != agent.CodeNotFound {
					t.Errorf("%s through %s: %v", change, through.name, err)
				}
			}
		}
	})
}

// A follower that has not applied yet that a node joined gives the leader's reason for a refusal.
func TestAFollowerCatchesUpBeforeItRefusesAChangeSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		leader, behind := w.leader(), w.follower()
		w.isolate(behind.name)
		for i := range 200 { // the follower receives them in many messages
			if err := put(t.Context(), leader.Service(), "k", i); err != nil {
				t.Fatal(err)
			}
		}
		joined := w.start("n4")
		w.await("n4 to vote", func() bool { return slices.Contains(votersOf(leader), joined.name) })
		if _, err := leader.Operator().Change(t.Context(), layout.ChangeDemote, joined.name); err != nil {
			t.Fatal(err)
		}
		w.links.Delay(leader.name, behind.name, 50*time.Millisecond)
		w.heal()
		_, err := behind.Operator().Change(t.Context(), layout.ChangeTransfer, joined.name)
		if agent.CodeOf(err) != agent.CodeConflict || !strings.Contains(err.Error(), "has no vote") {
			t.Errorf("a node without a vote is to lead: %v", err)
		}
	})
}

// A leader removes a node and is lost before it answers. The next leader does not have that member
// any more, and the caller learns that the change was made.
func TestALeaveWhoseAnswerWasLostIsMadeSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 4)
		leader, through := w.leader(), w.follower()
		var goes, stays *testNode
		for _, r := range w.awake {
			if r != leader && r != through {
				goes, stays = r, goes
			}
		}
		operator := through.Operator()
		if _, err := operator.Change(t.Context(), layout.ChangePromote, goes.name); err != nil { // connects to the leader
			t.Fatal(err)
		}
		w.links.Block(leader.name, through.name)
		left := make(chan error, 1)
		go func() {
			_, err := operator.Change(t.Context(), layout.ChangeLeave, goes.name)
			left <- err
		}()
		w.await("the node to leave", func() bool { return !slices.Contains(votersOf(stays), goes.name) })
		w.links.Crash(leader.name) // its answer does not arrive: the link stays cut
		_, _ = w.end(leader.name), w.end(goes.name)
		if err := <-left; err != nil {
			t.Errorf("the node has left, and the caller is told: %v", err)
		}
		if _, err := operator.Change(t.Context(), layout.ChangeLeave, goes.name); agent.CodeOf(err) != agent.CodeNotFound {
			t.Errorf("a second call: %v", err)
		}
	})
}

// A leader that was called itself sends the removal of a node to the others, does not learn that
// they have it, and is replaced.
func TestALeaveOfALeaderThatIsReplacedIsMadeSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 4)
		leader, goes := w.leader(), w.follower()
		operator := leader.Operator()
		if _, err := operator.Change(t.Context(), layout.ChangeDemote, goes.name); err != nil { // so that no voter is asked below
			t.Fatal(err)
		}
		w.await("the vote to be taken", func() bool { return !slices.Contains(votersOf(leader), goes.name) })
		for other := range w.awake {
			if other != leader.name {
				w.links.Block(other, leader.name)
			}
		}
		left := make(chan error, 1)
		go func() {
			_, err := operator.Change(t.Context(), layout.ChangeLeave, goes.name)
			left <- err
		}()
		w.await("the next leader to have no such member", func() bool {
			for _, r := range w.awake {
				isIt := func(m layout.Member) bool { return m.ID == goes.name }
				if r != leader && r.Group().IsLeader() && !slices.ContainsFunc(r.Machine().Members(), isIt) {
					return true
				}
			}
			return false
		})
		w.heal()
		if err := <-left; err != nil {
			t.Errorf("the node has left, and the caller is told: %v", err)
		}
		_ = w.end(goes.name) // it may return that it was removed
	})
}

func TestTheLastVoterStaysSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 1)
		for _, change := range []layout.Change{layout.ChangeLeave, layout.ChangeDemote} {
			if _, err := w.leader().Operator().Change(t.Context(), change, w.leader().name); agent.CodeOf(err) != agent.CodeConflict {
				t.Errorf("%s: %v", change, err)
			}
		}
	})
}

// A node tells the free space of its disk, when each member last answered it, and which are drained.
func TestTheStatusOfTheMembersSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		through, silent := w.leader(), w.follower()
		status := func() map[string]layout.MemberStatus {
			s, err := through.Operator().Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]layout.MemberStatus{}
			for _, m := range s.Members {
				found[m.ID] = m
			}
			return found
		}
		for id, m := range status() {
			if m.DiskFree <= 0 || time.Since(time.UnixMilli(m.LastContact)) > time.Second {
				t.Errorf("%s: %d bytes free, last contact %d, now %d", id, m.DiskFree, m.LastContact, time.Now().UnixMilli())
			}
		}
		for _, change := range []layout.Change{layout.ChangeDrain, layout.ChangeResume} {
			if _, err := through.Operator().Change(t.Context(), change, silent.name); err != nil {
				t.Fatal(err)
			}
			for id, m := range status() {
				if drained := m.DrainedAt > 0; drained != (change == layout.ChangeDrain && id == silent.name) {
					t.Errorf("%s was drained at %d after the %s of %s", id, m.DrainedAt, change, silent.name)
				}
			}
		}
		answered := time.Now()
		w.crash(silent.name)
		time.Sleep(time.Minute)
		if m := status()[silent.name]; m.DiskFree != 0 || m.LastContact < answered.UnixMilli() || m.LastContact > answered.Add(5*time.Second).UnixMilli() {
			t.Errorf("of the silent node: %d bytes free, last contact %d, expected about %d", m.DiskFree, m.LastContact, answered.UnixMilli())
		}
	})
}
