package node_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
)

// A node stops on an op that it does not know, so a deletion by prefix waits until all nodes know it.
func TestADeletionByPrefixWaitsUntilAllNodesKnowItSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 0)
		w.level = 7
		w.found(1)
		begin := agent.Commit{Ops: []agent.Op{&agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "x"}}}
		if _, err := w.leader().Store().Commit(t.Context(), begin); agent.CodeOf(err) != agent.CodeUnavailable {
			t.Fatalf("with a node of an older version: %v", err)
		}
		w.level = 0
		w.sleep(name(0))
		w.start(name(0))
		w.await("the deletion", func() bool {
			_, err := w.leader().Store().Commit(t.Context(), begin)
			if err != nil && agent.CodeOf(err) != agent.CodeUnavailable {
				t.Fatal(err)
			}
			return err == nil
		})
	})
}

// The leader proposes entries until a deletion is complete, and so does the next leader after it
// crashes in the middle. No node ever returns a deleted key.
func TestADeletionByPrefixSurvivesItsLeaderSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys = 20_000
		w := newSimCluster(t, 0)
		w.found(3)
		write := client.In(w.follower().Service(), agent.DefaultScope)
		for n := 0; n < keys; n += agent.CommitOpsMax {
			var ops []agent.Op
			for i := range min(agent.CommitOpsMax, keys-n) {
				ops = append(ops, &agent.PutValue{Key: fmt.Sprintf("x%05d", n+i)})
			}
			if _, err := write.Apply(t.Context(), ops...); err != nil {
				t.Fatal(err)
			}
		}
		first := w.leader()
		for i := range 3 { // so that the deletion is still under way when there is another leader
			for j := range 3 {
				w.links.Delay(name(i), name(j), 20*time.Millisecond)
			}
		}
		result, err := first.Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "x"}}})
		if err != nil {
			t.Fatal(err)
		}
		began := result.Results[0].(*agent.PrefixDeletion)
		if began.Complete() {
			t.Fatalf("it is complete at once: %+v", began)
		}
		w.crash(first.name)
		next := w.leader()
		seen := here(next)
		if d, err := seen.GetDeletion(t.Context(), began.ID); err != nil || d.Complete() {
			t.Fatalf("the crash came too late: %+v, %v", d, err)
		}
		for _, r := range []*testNode{next, w.follower()} {
			list, err := here(r).ListValues(t.Context(), agent.Page{})
			if err != nil || len(list.Items) > 0 {
				t.Fatalf("node %s lists %d values, %v", r.name, len(list.Items), err)
			}
			if _, err := here(r).GetValue(t.Context(), fmt.Sprintf("x%05d", keys-1)); agent.CodeOf(err) != agent.CodeNotFound {
				t.Fatalf("node %s reads a value: %v", r.name, err)
			}
		}
		done, err := agent.AwaitDeletion(t.Context(), began, func(ctx context.Context) (*agent.PrefixDeletion, error) { return seen.GetDeletion(ctx, began.ID) })
		if err != nil || done.Removed != keys {
			t.Fatalf("the receipt is %+v, %v", done, err)
		}
		w.start(first.name)
		w.agree()
	})
}
