package cluster_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/cluster"
	"dormouse/cluster/transport"
)

// Raft stops replicating to a node that is removed, so the entry that says so
// may never reach it; and a node without a vote never asks for others'.
func TestANonVoterThatWasRemovedWhileCutOffFindsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.found("n1")
		n2 := l.start("n2", func(o *cluster.Options) {
			o.Join = []string{addrOf("n1")}
			o.Self.WantVote = false
		})
		l.until("n2 is let in", func() bool { return n2.group.ClusterID() != "" })
		l.net.Isolate("n2", "n1")
		if err := l.change("leave", "n2"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // the leader gives up what it was sending
		l.net.HealAll()
		if err := n2.ended(); !errors.Is(err, transport.ErrRemoved) {
			t.Errorf("it ended with %v", err)
		}
	})
}
