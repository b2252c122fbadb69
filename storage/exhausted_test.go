package storage_test

import (
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"dormouse/storage"
)

// starved is a file system without a free descriptor for tables, once it is told so.
type starved struct {
	storage.FS
	out atomic.Bool
}

func (s *starved) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	if s.out.Load() && strings.HasSuffix(name, ".sst") {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.EMFILE}
	}
	return s.FS.Open(name, o...)
}

// A read that cannot open a file for lack of descriptors says nothing about the data.
func TestAReadWithoutADescriptorFindsNoDamage(t *testing.T) {
	fs := &starved{FS: storage.MemFS()}
	e := open(t, fs, "dir")
	set(t, e, "a", "1")
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	closeEngine(t, e)
	e = open(t, fs, "dir")
	defer closeEngine(t, e)
	fs.out.Store(true)
	_, _, err := e.Get([]byte("a"))
	if err == nil || !storage.Exhausted(err) || errors.Is(err, storage.ErrDamaged) {
		t.Errorf("it finds %v", err)
	}
	fs.out.Store(false)
	if value, ok, err := e.Get([]byte("a")); err != nil || !ok || string(value) != "1" {
		t.Errorf("afterwards it reads %q, %t, %v", value, ok, err)
	}
	if storage.Exhausted(syscall.ENOSPC) || storage.Exhausted(storage.ErrDamaged) || storage.Exhausted(nil) {
		t.Error("other errors count as exhaustion")
	}
}
