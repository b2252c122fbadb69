package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestAFaultyDiskWithoutFaultsIsAFileSystem(t *testing.T) {
	d := openFaulty(t)
	at := func(name string) string { return filepath.Join(d.Dir(), name) }

	must(t, write(at("a"), "one", true))
	must(t, write(at("a"), " two", false)) // O_APPEND
	mustRead(t, at("a"), "one two")

	must(t, os.Link(at("a"), at("b")))
	a, err := os.Stat(at("a"))
	must(t, err)
	b, err := os.Stat(at("b"))
	must(t, err)
	if !os.SameFile(a, b) {
		t.Error("a hard link is another file")
	}

	must(t, os.Mkdir(at("dir"), 0o755))
	must(t, os.Rename(at("b"), at("dir/c")))
	mustRead(t, at("dir/c"), "one two")
	must(t, os.Remove(at("a")))
	mustRead(t, at("dir/c"), "one two")

	file, err := os.OpenFile(at("space"), os.O_CREATE|os.O_RDWR, 0o600)
	must(t, err)
	defer func() { _ = file.Close() }()
	must(t, unix.Fallocate(int(file.Fd()), 0, 0, 1<<20))
	must(t, os.Remove(at("space")))
	if s, err := file.Stat(); err != nil || s.Size() != 1<<20 {
		t.Errorf("an allocated and unlinked file: %v, %v", s, err)
	}
	must(t, file.Truncate(10))

	for name, lock := range map[string]func(*os.File) error{
		"flock": func(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) },
		"fcntl": func(f *os.File) error {
			return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
		},
	} {
		first, err := os.Create(at(name))
		must(t, err)
		second, err := os.OpenFile(at(name), os.O_RDWR, 0)
		must(t, err)
		must(t, lock(first))
		if err := lock(second); err == nil {
			t.Errorf("%s: locked twice", name)
		}
		must(t, errors.Join(first.Close(), lock(second), second.Close()))
	}
}

func TestAFaultyDiskCanBeMapped(t *testing.T) {
	d := openFaulty(t)
	start(t, "mapper", filepath.Join(d.Dir(), "mapped")).says(t, "done")
}

func TestASyncFailsOnceOrUntilHealed(t *testing.T) {
	d := openFaulty(t)
	path := filepath.Join(d.Dir(), "a")
	d.FailSync(true)
	if err := write(path, "x", true); !errors.Is(err, syscall.EIO) {
		t.Errorf("the first sync: %v", err)
	}
	must(t, write(path, "y", true))

	d.FailSync(false)
	for range 2 {
		if err := syncDir(d.Dir()); !errors.Is(err, syscall.EIO) {
			t.Errorf("the sync of a directory: %v", err)
		}
	}
	d.Heal()
	must(t, write(path, "z", true))
	mustRead(t, path, "xyz")
}

func TestAFullDiskTakesNothingNew(t *testing.T) {
	d := openFaulty(t)
	path := filepath.Join(d.Dir(), "a")
	must(t, write(path, "x", true))
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer func() { _ = file.Close() }()

	d.Full(true)
	_, err = file.WriteAt([]byte("y"), 0)
	for name, err := range map[string]error{
		"write":  err,
		"alloc":  unix.Fallocate(int(file.Fd()), 0, 0, 1<<20),
		"create": write(filepath.Join(d.Dir(), "b"), "", false),
		"mkdir":  os.Mkdir(filepath.Join(d.Dir(), "c"), 0o755),
		"link":   os.Link(path, filepath.Join(d.Dir(), "d")),
	} {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var stat unix.Statfs_t
	must(t, unix.Statfs(d.Dir(), &stat))
	if stat.Bavail != 0 {
		t.Errorf("it says that %d blocks are free", stat.Bavail)
	}
	must(t, os.Rename(path, path+"2")) // needs no free space

	d.Full(false)
	mustRead(t, path+"2", "x")
	must(t, write(path+"2", "y", true))
}

func TestASlowDiskDelays(t *testing.T) {
	d := openFaulty(t)
	d.Slow(20 * time.Millisecond)
	began := time.Now()
	must(t, write(filepath.Join(d.Dir(), "a"), "x", true)) // a write and two syncs
	if took := time.Since(began); took < 60*time.Millisecond {
		t.Errorf("took %v", took)
	}
}

func TestADiskDelaysOnlyItsSyncs(t *testing.T) {
	d := openFaulty(t)
	d.SlowSync(200 * time.Millisecond)
	began := time.Now()
	must(t, write(filepath.Join(d.Dir(), "a"), "x", false))
	if took := time.Since(began); took >= 200*time.Millisecond {
		t.Errorf("without a sync it took %v", took)
	}
	began = time.Now()
	must(t, write(filepath.Join(d.Dir(), "a"), "x", true)) // two syncs
	if took := time.Since(began); took < 400*time.Millisecond {
		t.Errorf("with syncs it took %v", took)
	}
}

func TestWhatHangsGoesOnWhenHealed(t *testing.T) {
	d := openFaulty(t)
	path := filepath.Join(d.Dir(), "a")
	must(t, write(path, "", true))
	d.Hang(true)
	writer := start(t, "writer", path)
	writer.says(t, "writing")
	d.Heal()
	writer.says(t, "done")
	mustRead(t, path, "a line\n")
}

func TestWhatHangsCanBeKilled(t *testing.T) {
	d := openFaulty(t)
	path := filepath.Join(d.Dir(), "a")
	must(t, write(path, "", true))
	d.Hang(true)
	writer := start(t, "writer", path)
	writer.says(t, "writing")
	awaitHung(t, writer)
	// The Go runtime sends this signal to its own threads; the call must not fail.
	must(t, writer.Process.Signal(syscall.SIGURG))
	must(t, writer.Process.Signal(syscall.SIGURG))
	writer.kill(t)
	d.Heal()
	mustRead(t, path, "")
}

func TestClosingReleasesWhatHangs(t *testing.T) {
	d := openFaulty(t)
	path := filepath.Join(d.Dir(), "a")
	must(t, write(path, "", true))
	d.Hang(true)
	writer := start(t, "writer", path)
	writer.says(t, "writing")
	awaitHung(t, writer)
	must(t, d.Close())
	writer.says(t, "done")
}

// awaitHung returns once a thread of the process waits for the disk.
func awaitHung(t *testing.T, p *process) {
	t.Helper()
	tasks := filepath.Join("/proc", strconv.Itoa(p.Process.Pid), "task")
	eventually(t, "something hangs", func() bool {
		threads, err := os.ReadDir(tasks)
		must(t, err)
		return slices.ContainsFunc(threads, func(thread os.DirEntry) bool {
			where, err := os.ReadFile(filepath.Join(tasks, thread.Name(), "syscall"))
			number, rest, _ := strings.Cut(string(where), " ")
			return err == nil && number == "1" && !strings.HasPrefix(rest, "0x1 ") // it writes to a file other than its standard output
		})
	})
}
