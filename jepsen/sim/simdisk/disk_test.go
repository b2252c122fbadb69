package simdisk_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft-wal/types"

	"dormouse/jepsen/sim/simdisk"
	"dormouse/storage"
)

func newDisk(speed time.Duration) *simdisk.Disk {
	return simdisk.New("n1", rand.New(rand.NewPCG(1, 2)), nil, simdisk.Speed{Sync: speed})
}

// written writes four blocks to a segment: two are synced, and one of those changes after.
func written(t *testing.T, d *simdisk.Disk) types.VFS {
	t.Helper()
	files := d.Log().Segments()
	f, err := files.Create("wal", "1", 4096)
	if err != nil {
		t.Fatal(err)
	}
	write := func(b byte, block int64) {
		if _, err := f.WriteAt(bytes.Repeat([]byte{b}, 512), 512*block); err != nil {
			t.Fatal(err)
		}
	}
	write(1, 0)
	write(1, 1)
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	write(2, 1)
	write(2, 2)
	return files
}

// blocks returns the first byte of each block of the segment.
func blocks(t *testing.T, d *simdisk.Disk) (first []byte) {
	t.Helper()
	f, err := d.Log().Segments().OpenReader("wal", "1")
	if err != nil {
		t.Fatal(err)
	}
	for block := range int64(4) {
		one := make([]byte, 1)
		if _, err := f.ReadAt(one, 512*block); err != nil {
			t.Fatal(err)
		}
		first = append(first, one[0])
	}
	return first
}

func TestAPowerFailureLosesWhatWasNotSynced(t *testing.T) {
	d := newDisk(0)
	written(t, d)
	if got := blocks(t, d.Crash(0)); !bytes.Equal(got, []byte{1, 1, 0, 0}) {
		t.Errorf("nothing that was not synced survives: %v", got)
	}
	if got := blocks(t, d.Crash(100)); !bytes.Equal(got, []byte{1, 2, 2, 0}) {
		t.Errorf("the end of a process loses nothing: %v", got)
	}
	torn := map[string]bool{}
	for range 100 {
		torn[string(blocks(t, d.Crash(50)))] = true
	}
	if len(torn) != 4 {
		t.Errorf("two blocks survive or not, and the outcomes are %v", torn)
	}
	if got := blocks(t, d); !bytes.Equal(got, []byte{1, 2, 2, 0}) {
		t.Errorf("a crash changed the disk of the process that ended: %v", got)
	}
}

func TestAFileThatWasNeverSyncedMayBeGone(t *testing.T) {
	d := newDisk(0)
	if _, err := d.Log().Segments().Create("wal", "1", 512); err != nil {
		t.Fatal(err)
	}
	if names, err := d.Crash(0).Log().Segments().ListDir("wal"); err != nil || len(names) != 0 {
		t.Errorf("%v, %v", names, err)
	}
}

func TestAStableValueIsOldOrNewAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(time.Hour)
		s, err := d.Log().Stable("stable.db")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Set([]byte("vote"), []byte("old")); err != nil {
			t.Fatal(err)
		}
		set := make(chan error, 1)
		go func() { set <- s.Set([]byte("vote"), []byte("new")) }()
		synctest.Wait() // the sync takes its time
		seen := map[string]bool{}
		for range 50 {
			after, err := d.Crash(0).Log().Stable("stable.db")
			if err != nil {
				t.Fatal(err)
			}
			value, err := after.Get([]byte("vote"))
			if err != nil {
				t.Fatal(err)
			}
			seen[string(value)] = true
			if seen["new"] {
				break // the crash made the change, which a later one finds made
			}
		}
		if err := <-set; err != nil {
			t.Fatal(err)
		}
		if !seen["old"] || !seen["new"] {
			t.Errorf("after a crash during a change: %v", seen)
		}
		if _, err := s.Get([]byte("nothing")); err == nil || err.Error() != "not found" {
			t.Errorf("Raft wants exactly \"not found\": %v", err)
		}
	})
}

func TestFaultsOfADisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(time.Millisecond)
		write := func() error { return storage.WriteFile(d.State(), "f", []byte("x")) }
		if err := write(); err != nil {
			t.Fatal(err)
		}
		d.Set(func(f *simdisk.Faults) { f.Full = true })
		if err := write(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a full disk: %v", err)
		}
		if err := storage.WriteFile(d.Crash(100).State(), "f", nil); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("the disk is not full after a crash: %v", err)
		}
		d.Set(func(f *simdisk.Faults) { *f = simdisk.Faults{Fail: 1} })
		if err := write(); !errors.Is(err, syscall.EIO) {
			t.Errorf("a failing disk: %v", err)
		}
		d.Set(func(f *simdisk.Faults) { *f = simdisk.Faults{Hang: true} })
		began := time.Now()
		time.AfterFunc(time.Minute, func() { d.Set(func(f *simdisk.Faults) { f.Hang = false }) })
		if err := write(); err != nil || time.Since(began) < time.Minute {
			t.Errorf("a disk that hangs took %v, %v", time.Since(began), err)
		}
	})
}

func TestOneBitFlips(t *testing.T) {
	d := newDisk(0)
	if _, found := d.Flip(rand.New(rand.NewPCG(1, 2))); found {
		t.Error("an empty log has a bit")
	}
	written(t, d)
	before := blocksOf(t, d)
	if _, found := d.Flip(rand.New(rand.NewPCG(1, 2))); !found {
		t.Fatal("no bit was found")
	}
	different := 0
	for i, b := range blocksOf(t, d) {
		if x := b ^ before[i]; x != 0 {
			different++
			if x&(x-1) != 0 {
				t.Errorf("byte %d changed from %x to %x", i, before[i], b)
			}
		}
	}
	if different != 1 {
		t.Errorf("%d bytes changed", different)
	}
}

// blocksOf returns the whole segment.
func blocksOf(t *testing.T, d *simdisk.Disk) []byte {
	t.Helper()
	f, err := d.Log().Segments().OpenReader("wal", "1")
	if err != nil {
		t.Fatal(err)
	}
	all := make([]byte, 4096)
	if _, err := f.ReadAt(all, 0); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestADirectoryIsLockedOnce(t *testing.T) {
	d := newDisk(0)
	lock, err := d.Log().Lock("raft")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Log().Lock("raft"); err == nil {
		t.Error("it was locked twice")
	}
	if _, err := d.Crash(100).Log().Lock("raft"); err != nil {
		t.Errorf("a process that has ended holds a lock: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}

func TestAFileAndItsCopyAfterACrashAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(0)
		before, err := d.Log().Segments().Create("wal", "1", 2048)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := before.WriteAt([]byte("old"), 0); err != nil {
			t.Fatal(err)
		}
		crashed := d.Crash(100)
		after, err := crashed.Log().Segments().OpenWriter("wal", "1")
		if err != nil {
			t.Fatal(err)
		}
		holds := func(f io.ReaderAt, want string) {
			t.Helper()
			b := make([]byte, len(want))
			if _, err := f.ReadAt(b, 0); err != nil || string(b) != want {
				t.Errorf("it holds %q, %v, not %q", b, err, want)
			}
		}
		if _, err := before.WriteAt([]byte("ghost"), 0); err != nil { // what still runs of the process
			t.Fatal(err)
		}
		holds(after, "old")
		if _, err := after.WriteAt([]byte("new"), 0); err != nil {
			t.Fatal(err)
		}
		holds(before, "ghost")
		holds(after, "new\x00\x00")
		if _, found := crashed.Crash(100).Flip(rand.New(rand.NewPCG(1, 1))); !found {
			t.Error("no bit was flipped")
		}
		holds(after, "new")
	})
}

// Pebble panics if it cannot sync the directory of an engine: that must end the process, not the
// simulation.
func TestAFailedSyncOfAnEnginesDirectoryEndsTheProcess(t *testing.T) {
	d := newDisk(time.Microsecond)
	ended := make(chan error, 1)
	d.OnFailure(func(err error) { ended <- err })
	fs := d.State()
	for _, dir := range []string{"snapshots", "engine-0-1"} {
		if err := fs.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.Set(func(f *simdisk.Faults) { f.Fail = 1 })
	syncDir := func(dir string) error {
		f, err := fs.OpenDir(dir)
		if err != nil {
			t.Error(err)
			return nil
		}
		return f.Sync()
	}
	if err := syncDir("snapshots"); !errors.Is(err, syscall.EIO) || len(ended) > 0 {
		t.Errorf("another directory: %v, ended %d processes", err, len(ended))
	}
	wentOn := make(chan error, 1)
	go func() { wentOn <- syncDir("engine-0-1") }() // never ends, so there is no bubble
	select {
	case err := <-wentOn:
		t.Errorf("the process went on: %v", err)
	case err := <-ended:
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("it ended by %v", err)
		}
	}
}
