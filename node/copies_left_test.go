package node_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
)

// A node that starts removes the copies of its state that crashes have left.
func TestANodeRemovesCopiesOfItsStateSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 1)
		w.sleep("n1")
		dir := w.config("n1").Node.DataDir
		for _, name := range []string{"restore.tmp", "recovery.tmp", "backup.tmp", "rehearsal-1"} {
			if err := os.MkdirAll(filepath.Join(dir, name, "state"), 0o700); err != nil {
				t.Fatal(err)
			}
			w.start("n1")
			if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s stays: %v", name, err)
			}
			w.sleep("n1")
		}
	})
}
