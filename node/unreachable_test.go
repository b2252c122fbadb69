package node_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/placement"
)

// A node that cannot reach the owner of an instance, whose lease is renewed, sends calls through
// the third node. A call with a request id is handled once, and is delayed by a few seconds only if
// no earlier call has met the cut.
func TestCallsGoRoundACutSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		w.settled("n1", "n2", "n3")
		put := &agent.PutManager{Manager: agent.Manager{Name: "documents", Handler: agent.Handler{Kind: agent.HandlerDocument}, Untracked: true}}
		if _, err := w.leader().Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{put}}); err != nil {
			t.Fatal(err)
		}
		owner := w.follower()
		var caller *testNode
		for _, r := range w.awake {
			if r != owner && r != w.leader() {
				caller = r
			}
		}
		ref := agent.InstanceRef{Scope: agent.DefaultScope, Manager: "documents", Key: "k"}
		owning := func() layout.Partition {
			return caller.Machine().Partition(placement.Partition(ref.Scope, ref.Manager, ref.Key))
		}
		for n := 0; owning().Owner != owner.name; n++ {
			ref.Key = fmt.Sprint("k", n)
		}
		before := owning()
		signal := func(seq uint64) (agent.Reply, time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			began := time.Now()
			add := agent.Signal{Type: "append", Data: agent.JSON(`{"entries":{}}`), Request: agent.Request{Client: "c", Seq: seq}}
			reply, err := caller.Instances().Signal(ctx, ref, add)
			if err != nil {
				t.Errorf("signal %d: %v", seq, err)
			}
			return reply, time.Since(began)
		}
		signal(1)
		w.links.Isolate(caller.name, owner.name)
		var slow time.Duration
		for seq := uint64(2); seq < 12; seq++ {
			reply, took := signal(seq)
			if reply.Rev != seq || reply.Node != owner.name || took > 5*time.Second {
				t.Errorf("signal %d: %+v after %v", seq, reply, took)
			}
			slow += took
		}
		if slow > 6*time.Second {
			t.Errorf("ten calls took %v: each of them tried the way that is cut", slow)
		}
		if now := owning(); now.Epoch != before.Epoch {
			t.Errorf("the partition moved: %+v, then %+v", before, now)
		}
	})
}
