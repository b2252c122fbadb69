package node_test

import (
	"testing"
	"testing/synctest"
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
