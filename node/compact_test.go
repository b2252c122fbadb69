package node_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"dormouse/config"
	"dormouse/storage"
)

// snapshotted runs a node that writes more than its log keeps, and waits for the snapshot.
func (w *simCluster) snapshotted(name string) config.Config {
	w.t.Helper()
	c := w.config(name)
	c.Raft.SnapshotEntries = 100
	w.startWith(name, c)
	w.settle(1)
	n := w.awake[name]
	for i := range 150 {
		if err := put(w.t.Context(), n.Service(), "k", i+1); err != nil {
			w.t.Fatal(err)
		}
	}
	w.await("a snapshot of 150 entries, where one is due after 100", func() bool {
		snapshots, err := n.Machine().Snapshots().List()
		return err == nil && len(snapshots) > 0
	})
	return c
}

func TestTheLogIsCutWhereTheConfigurationSaysSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { newSimCluster(t, 0).snapshotted("n1") })
}

// A group's wrapper of snapshots must let the state machine link its files: otherwise each snapshot
// copies all data.
func TestASnapshotHoldsTheStatesOwnFilesSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 0)
		w.disks["n1"] = storage.Disk
		state := filepath.Join(w.snapshotted("n1").Node.DataDir, "state")
		kept, err := filepath.Glob(filepath.Join(state, "snapshots", "*[0-9]", "data", "*.sst"))
		if err != nil || len(kept) == 0 {
			t.Fatalf("the snapshot holds %q: %v", kept, err)
		}
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
