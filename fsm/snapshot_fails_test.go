package fsm_test

import (
	"errors"
	"path"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/storage"
)

// A snapshot that the disk ends leaves no files, and the next one is made.
func TestASnapshotOnAFailingDiskLeavesNoFiles(t *testing.T) {
	var failing atomic.Bool
	fs := errorfs.Wrap(storage.MemFS(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if failing.Load() && op.Kind == errorfs.OpFileSync && strings.HasPrefix(path.Base(op.Path), "cut-") {
			return syscall.EIO
		}
		return nil
	}))
	r := openSubject(t, fsm.Options{Dir: "state", FS: fs})
	do[*agent.CheckpointResult](r, &agent.PutCheckpoint{Key: "k"})
	failing.Store(true)
	if _, err := r.machine.Snapshot(); !errors.Is(err, syscall.EIO) {
		t.Errorf("the snapshot: %v", err)
	}
	names, err := fs.List("state")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, "cut-") {
			t.Errorf("%s is left", name)
		}
	}
	failing.Store(false)
	made, err := r.machine.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	made.Release()
}
