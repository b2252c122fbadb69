package node_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"dormouse/storage"
)

func TestTheLogIsCutWhereTheConfigurationSaysSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := simTown(t, 0)
		c := w.config("n1")
		c.Raft.SnapshotEntries = 100
		w.startWith("n1", c)
		w.settle(1)
		first := w.awake["n1"]
		for i := range 150 {
			if err := put(t.Context(), first.Service(), "k", i+1); err != nil {
				t.Fatal(err)
			}
		}
		w.await("a snapshot of 150 entries, where one is due after 100", func() bool {
			snapshots, err := first.Machine().Snapshots().List()
			return err == nil && len(snapshots) > 0
		})
	})
}

// What a group wraps round the state machine's snapshots must not come between
// the two: they would be copies of all data, each time.
func TestASnapshotHoldsTheStatesOwnFilesSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := simTown(t, 0)
		w.disks["n1"] = storage.Disk
		c := w.config("n1")
		c.Raft.SnapshotEntries = 100
		w.startWith("n1", c)
		w.settle(1)
		first := w.awake["n1"]
		for i := range 110 {
			if err := put(t.Context(), first.Service(), "k", i+1); err != nil {
				t.Fatal(err)
			}
		}
		state := filepath.Join(c.Node.DataDir, "state")
		var kept []string
		w.await("a snapshot of 110 entries, where one is due after 100", func() bool {
			kept, _ = filepath.Glob(filepath.Join(state, "snapshots", "*[0-9]", "data", "*.sst"))
			return len(kept) > 0
		})
		for _, path := range kept {
			ours, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			links, _ := filepath.Glob(filepath.Join(state, "engine-*", filepath.Base(path)))
			if len(links) != 1 {
				t.Fatalf("the engine has %d files that are called as %s", len(links), path)
			}
			engines, err := os.Stat(links[0])
			if err != nil {
				t.Fatal(err)
			}
			if !os.SameFile(ours, engines) {
				t.Errorf("%s is a copy of %s", path, links[0])
			}
		}
	})
}
