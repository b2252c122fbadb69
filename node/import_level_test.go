package node_test

import (
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/fsm"
)

// A node stops on an op that it does not know, so the op waits until all nodes know it.
func TestAnImportWaitsUntilAllNodesKnowIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 0)
		w.level = oldLevel
		w.found(1)
		begin := agent.Commit{Scope: "moved", Ops: []agent.Op{&agent.ImportScope{ID: "file", Scope: &agent.Scope{Name: "moved"}}}}
		if _, err := w.leader().Store().Commit(t.Context(), begin); agent.CodeOf(err) != agent.CodeUnavailable {
			t.Fatalf("with a node of an older version: %v", err)
		}
		w.level = 0
		w.sleep(name(0))
		w.start(name(0))
		w.await("the import to begin", func() bool {
			_, err := w.leader().Store().Commit(t.Context(), begin)
			if err != nil && agent.CodeOf(err) != agent.CodeUnavailable {
				t.Fatal(err)
			}
			return err == nil
		})
	})
}

// A node that cannot end a live instance would complete its erasure while the instance is live.
func TestAnErasureOfAnInstanceWaitsUntilAllNodesKnowHowToEndItSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 0)
		w.level = oldLevel
		w.found(1)
		erase := func(name string) error {
			_, err := w.leader().Store().Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.EraseAgent{Agent: name}}})
			return err
		}
		instance := agent.InstanceRef{Manager: "m", Key: "k"}.Checkpoint()
		if err := erase("a"); err != nil {
			t.Errorf("an agent that is no instance: %v", err)
		}
		if err := erase(instance); agent.CodeOf(err) != agent.CodeUnavailable {
			t.Errorf("with a node of an older version: %v", err)
		}
		w.level = 0
		w.sleep(name(0))
		w.start(name(0))
		w.await("the erasure", func() bool { return erase(instance) == nil })
	})
}

// A new cluster has its founder's feature level as soon as the founder is a member. Entries before
// that are written as by older versions.
func TestANewClusterRaisesItsFeatureLevelAtOnceSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 0)
		m := w.start(name(0)).Machine()
		for len(m.Members()) == 0 {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Millisecond)
		if level := m.FeatureLevel(); level != fsm.FeatureLevelMax {
			t.Errorf("10 ms after the founder became a member the feature level is %d, want %d", level, fsm.FeatureLevelMax)
		}
	})
}
