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
