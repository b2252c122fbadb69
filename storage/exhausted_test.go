package storage_test

import (
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

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

func (s *starved) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if s.out.Load() && strings.HasSuffix(name, ".sst") {
		return nil, &os.PathError{Op: "create", Path: name, Err: syscall.EMFILE}
	}
	return s.FS.Create(name, c)
}

// A flush that finds no descriptor is tried again until there is one.
func TestAFlushWithoutADescriptorIsTriedAgain(t *testing.T) {
	fs := &starved{FS: storage.MemFS()}
	e := open(t, fs, "dir")
	defer closeEngine(t, e)
	set(t, e, "a", "1")
	fs.out.Store(true)
	flushed := make(chan error)
	go func() { flushed <- e.Flush() }()
	select {
	case err := <-flushed:
		t.Fatalf("it was flushed: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	fs.out.Store(false)
	if err := <-flushed; err != nil {
		t.Error(err)
	}
	wantRows(t, e, "a=1")
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
	fs.out.Store(true) // from the beginning: a job in the background opens the table too
	e = open(t, fs, "dir")
	defer closeEngine(t, e)
	_, _, err := e.Get([]byte("a"))
	if err == nil || !storage.Exhausted(err) || errors.Is(err, storage.ErrDamaged) {
		t.Errorf("it finds %v", err)
	}
	fs.out.Store(false)
	value, ok, err := e.Get([]byte("a"))
	for end := time.Now().Add(10 * time.Second); storage.Exhausted(err) && time.Now().Before(end); {
		value, ok, err = e.Get([]byte("a")) // the error may be that of a job which opened the table before
	}
	if err != nil || !ok || string(value) != "1" {
		t.Errorf("afterwards it reads %q, %t, %v", value, ok, err)
	}
	if storage.Exhausted(syscall.ENOSPC) || storage.Exhausted(storage.ErrDamaged) || storage.Exhausted(nil) {
		t.Error("other errors count as exhaustion")
	}
}
