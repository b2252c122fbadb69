package node_test

import (
	"testing"
	"testing/synctest"

	"dormouse/agent"
)

// A node that does not know an op stops on it, so the op waits for the last one.
func TestAnImportWaitsUntilAllNodesKnowIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := simTown(t, 0)
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
