package raftlog

import (
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"
	walfs "github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/types"
)

// osFiles is the disk's file system.
var osFiles = walfs.New()

// unsealedMeta is a list of segments that a crash keeps from recording that one is sealed.
type unsealedMeta struct {
	*walMeta
	crashed bool // nothing is recorded any more
}

func (m *unsealedMeta) CommitState(s types.PersistentState) error {
	if m.crashed {
		return errors.New("the process has ended")
	}
	return m.walMeta.CommitState(s)
}

// openSmall opens a log with small segments in dir.
func openSmall(t *testing.T, dir string, crash bool) (logs raft.LogStore, end func()) {
	t.Helper()
	e := &Engines{dir: dir, kind: logStoreWAL, segmentBytes: 4096, logger: quiet}
	files := newWALFiles(dir, osFiles)
	meta := &unsealedMeta{walMeta: &walMeta{files: files}}
	logs, err := e.openSegments(dir, files, meta)
	if err != nil {
		t.Fatal(err)
	}
	meta.crashed = crash
	return logs, func() {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func mustStore(t *testing.T, logs raft.LogStore, first, last uint64) {
	t.Helper()
	for _, one := range commands(first, last) {
		if err := logs.StoreLogs([]*raft.Log{one}); err != nil {
			t.Fatalf("entry %d: %v", one.Index, err)
		}
	}
}

// fillSegment appends entries until the first segment has its index, and returns the last entry.
func fillSegment(t *testing.T, dir string, logs raft.LogStore) (last uint64) {
	t.Helper()
	info := types.SegmentInfo{BaseIndex: 1, ID: 0, MinIndex: 1, Codec: 1, SizeLimit: 4096}
	for last = 1; ; last++ {
		mustStore(t, logs, last, last)
		if at, _, err := newWALFiles(dir, osFiles).sealed(info); err != nil {
			t.Fatal(err)
		} else if at > 0 {
			return last
		}
	}
}

func checkEntries(t *testing.T, logs raft.LogStore, want uint64) {
	t.Helper()
	if last, err := logs.LastIndex(); err != nil || last != want {
		t.Fatalf("the log ends at %d, %v; want %d", last, err, want)
	}
	for index := uint64(1); index <= want; index++ {
		var got raft.Log
		if err := logs.GetLog(index, &got); err != nil || string(got.Data) != string(commands(index, index)[0].Data) {
			t.Fatalf("entry %d is %q, %v", index, got.Data, err)
		}
	}
}

// The simulator found it: dormjepsen sim --seed 3 --time 5m.
func TestACrashBetweenASealAndItsRecordLeavesALogThatGrows(t *testing.T) {
	dir := t.TempDir()
	logs, end := openSmall(t, dir, true)
	last := fillSegment(t, dir, logs)
	end()
	for range 3 { // each start finds what the one before has left
		logs, end = openSmall(t, dir, false)
		checkEntries(t, logs, last)
		mustStore(t, logs, last+1, last+50)
		last += 50
		checkEntries(t, logs, last)
		end()
	}
}

// A power failure may tear the last write of a segment after the first bytes of its index.
func TestATornIndexIsErased(t *testing.T) {
	dir := t.TempDir()
	logs, end := openSmall(t, dir, true)
	last := fillSegment(t, dir, logs)
	end()
	info := types.SegmentInfo{BaseIndex: 1, ID: 0, MinIndex: 1, Codec: 1, SizeLimit: 4096}
	files := newWALFiles(dir, osFiles)
	indexStart, _, err := files.sealed(info)
	if err != nil {
		t.Fatal(err)
	}
	tear(t, files, info, indexStart+4)
	logs, end = openSmall(t, dir, false)
	checkEntries(t, logs, last-1) // its write was not whole
	mustStore(t, logs, last, last+50)
	checkEntries(t, logs, last+50)
	end()
	logs, end = openSmall(t, dir, false)
	checkEntries(t, logs, last+50)
	end()
}

// The index of a deletion is a write of its own: if a power failure tears it, all entries are there.
func TestATornIndexOfADeletionIsErased(t *testing.T) {
	dir := t.TempDir()
	logs, end := openSmall(t, dir, true)
	mustStore(t, logs, 1, 20)
	if err := logs.DeleteRange(15, 20); err == nil {
		t.Fatal("the deletion was recorded")
	}
	end()
	info := types.SegmentInfo{BaseIndex: 1, ID: 0, MinIndex: 1, Codec: 1, SizeLimit: 4096}
	files := newWALFiles(dir, osFiles)
	indexStart, _, err := files.sealed(info)
	if err != nil || indexStart == 0 {
		t.Fatalf("the index is at %d: %v", indexStart, err)
	}
	tear(t, files, info, indexStart+8)
	logs, end = openSmall(t, dir, false)
	checkEntries(t, logs, 20)
	mustStore(t, logs, 21, 60)
	checkEntries(t, logs, 60)
	end()
	logs, end = openSmall(t, dir, false)
	checkEntries(t, logs, 60)
	end()
}

// tear erases a segment from an offset on.
func tear(t *testing.T, files walFiles, info types.SegmentInfo, from uint64) {
	t.Helper()
	f, err := files.files.OpenWriter(files.dir, filepath.Base(files.path(info)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 8192), int64(from)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// fullDisk creates no more files once it is full.
type fullDisk struct {
	types.VFS
	full atomic.Bool
}

func (d *fullDisk) Create(dir, name string, size uint64) (types.WritableFile, error) {
	if d.full.Load() {
		return nil, syscall.ENOSPC
	}
	return d.VFS.Create(dir, name, size)
}

// Raft-wal begins the next segment in the background. A disk that is full then ends the node with that
// reason, and not with that of the next append.
func TestARotationThatFailsEndsTheNode(t *testing.T) {
	dir, disk, end := t.TempDir(), &fullDisk{VFS: osFiles}, &ending{}
	e := &Engines{kind: logStoreWAL, segmentBytes: 4096, logger: quiet, Stable: raft.NewInmemStore()}
	files := newWALFiles(dir, disk)
	logs, err := e.openSegments(dir, files, &walMeta{files: files})
	if err != nil {
		t.Fatal(err)
	}
	e.Logs = logs
	s, err := StackStores(Options{Fatal: end.fatal, Logger: quiet}, e)
	if err != nil {
		t.Fatal(err)
	}
	disk.full.Store(true)
	for index := uint64(1); len(end.reasons()) == 0; index++ {
		err = s.Logs.StoreLogs(commands(index, index))
	}
	if why := end.reasons()[0]; !errors.Is(why, syscall.ENOSPC) || !strings.Contains(why.Error(), "create segment") {
		t.Errorf("the node ends with %v", why)
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("an append after it: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
