package node_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"dormouse/backup"
	"dormouse/backup/blob"
	"dormouse/node"
)

// Where the state of the newest backup is damaged or missing, the one before it and the log give the same state.
func TestARestoreContinuesWithAnOlderBackupSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newBackedUp(t)
		w.found(1)
		for i := range 3 {
			if err := put(t.Context(), w.leader().Service(), "k", i); err != nil {
				t.Fatal(err)
			}
			takeBackup(t, w.leader())
		}
		last := now(t, w.leader())
		w.await("the shipped log", func() bool { return backupStatus(t, w.leader()).ShippedTo >= last.index })
		store, err := blob.Open(t.Context(), w.backup.URL, "")
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close() //nolint:errcheck // a directory
		c := &backup.Catalog{Store: store, Cluster: w.leader().Group().ClusterID(), Trust: backup.Trust{Anyone: true}}
		all, err := c.List(t.Context())
		if err != nil || len(all.Backups) < 3 {
			t.Fatal(all, err)
		}
		var told strings.Builder
		point := node.Point{Archive: node.Archive{URL: w.backup.URL, AnySigner: true}, Tell: func(format string, args ...any) { fmt.Fprintf(&told, format+"\n", args...) }}
		restore := func() (node.Restored, error) {
			told.Reset()
			return node.RehearsePoint(t.Context(), point, w.dir)
		}
		whole, err := restore()
		if err != nil || whole.Backup != all.Backups[len(all.Backups)-1].Name {
			t.Fatalf("%+v, %v", whole, err)
		}
		state := func(i int) string {
			return filepath.Join(w.dir, "backups", c.Cluster, "backups", all.Backups[i].Name, "state")
		}
		newest := len(all.Backups) - 1
		raw, err := os.ReadFile(state(newest))
		if err != nil {
			t.Fatal(err)
		}
		raw[len(raw)/2] ^= 1
		for what, spoil := range []func() error{ // damaged, and then missing
			func() error { return os.WriteFile(state(newest), raw, 0o600) },
			func() error { return os.RemoveAll(state(newest)) },
		} {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			done, err := restore()
			if err != nil || done.StateHash != whole.StateHash || done.Index != whole.Index || done.Backup != all.Backups[newest-1].Name {
				t.Errorf("%d: %+v, %v, want %+v", what, done, err, whole)
			}
			if !strings.Contains(told.String(), "backup "+all.Backups[newest].Name+" cannot be used") {
				t.Errorf("%d: it says %s", what, told.String())
			}
		}
		for i := range newest { // now none can be used, and the first error counts
			if err := os.RemoveAll(state(i)); err != nil {
				t.Fatal(err)
			}
		}
		if done, err := restore(); err == nil || !strings.Contains(err.Error(), all.Backups[newest].Name+" has a manifest and no state") || errors.Is(err, backup.ErrState) {
			t.Errorf("without any state: %+v, %v", done, err)
		}
	})
}
