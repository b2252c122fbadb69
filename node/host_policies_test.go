package node_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// A host applies the awake_max of a scope's policy to the instances that it runs.
func TestAHostAppliesAScopesAwakeMaxSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const awakeMax, instances = 3, 8
		w := newHostCluster(t, 3)
		put := &agent.PutScope{Policy: agent.Policy{AwakeMax: awakeMax}}
		if _, err := w.leader().Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{put}}); err != nil {
			t.Fatal(err)
		}
		h1 := w.startHost("h1", recordingHandlers("tally", 1))
		<-h1.Ready()
		w.await("the host to own everything", func() bool { return len(h1.Owned()) == layout.Partitions })
		w.signal(h1.Instances(), "first")
		time.Sleep(3 * time.Second) // the host reads the policy
		for i := range instances {
			w.signal(h1.Instances(), fmt.Sprint("k", i))
		}
		stats, err := h1.Instances().Stats(t.Context(), agent.DefaultScope, "tallies")
		if err != nil {
			t.Fatal(err)
		}
		awake := 0
		for _, n := range stats.Nodes {
			awake += n.Awake
		}
		if awake != awakeMax {
			t.Errorf("%d instances are awake, want %d: %+v", awake, awakeMax, stats)
		}
		w.whole()
		h1.stop()
		if err := <-h1.done; err != nil {
			t.Error(err)
		}
	})
}
