// Package simdisk is a disk in memory for the simulator: the file system of Pebble, and
// the files of the Raft log. A power failure loses or tears what was not synced. The disk
// can be slow, hang, be full, fail and flip bits. All that it does, it draws from one
// generator and notes in a trace.
package simdisk

import (
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"dormouse/jepsen/sim/trace"
	"dormouse/storage"
)

// Speed is how long a disk takes.
type Speed struct {
	Sync time.Duration // mean time of a sync, exponentially distributed; 0 means none
}

// Faults are the faults of a disk.
type Faults struct {
	Hang bool    // no sync ends
	Full bool    // writes fail with ENOSPC
	Fail float64 // share of writes and syncs that fail with EIO
	Slow time.Duration
}

// Disk is the disk of one host. Its methods may be called concurrently. A crash ends a
// Disk: the process that used it goes on, if it must, on files of its own.
type Disk struct {
	name  string
	trace *trace.Trace
	speed Speed
	state storage.CrashFS
	log   *logFiles

	mu     sync.Mutex
	draw   *rand.Rand    // guarded by mu
	faults Faults        // guarded by mu
	healed chan struct{} // guarded by mu; closed and replaced when the faults change
	syncs  int64         // guarded by mu
	end    func(error)   // guarded by mu; ends the process that uses the disk; nil if none does
}

// New returns an empty disk. speed is 0 if virtual time does not pass while goroutines
// wait for a mutex: then a disk must not make its callers wait.
func New(name string, draw *rand.Rand, t *trace.Trace, speed Speed) *Disk {
	d := &Disk{name: name, trace: t, speed: speed, state: storage.CrashableMemFS(), draw: draw, healed: make(chan struct{})}
	d.log = &logFiles{disk: d, segments: map[string]*segment{}, stable: map[string]map[string][]byte{}, meta: map[string][]byte{}, locked: map[string]bool{}}
	return d
}

// State is the file system of the state machine.
func (d *Disk) State() storage.FS {
	return stateFS{errorfs.Wrap(d.state, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData {
			err := d.before("sync", op.Path)
			if err != nil && d.isEngine(op.Path) {
				d.fail(err)
			}
			return err
		}
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return d.before("write", op.Path)
		}
		return nil
	}))}
}

// isEngine reports whether a path is the directory of an engine, or of a copy of one. Pebble
// panics in some places where the sync of such a directory fails.
func (d *Disk) isEngine(at string) bool {
	name := path.Base(at)
	if !strings.HasPrefix(name, "engine-") && !strings.HasPrefix(name, "cut-") {
		return false
	}
	is, err := d.state.Stat(at)
	return err == nil && is.IsDir()
}

// OnFailure sets what ends the process that uses the disk, as a panic does.
func (d *Disk) OnFailure(end func(error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end = end
}

// fail ends the process. The goroutine does not go on.
func (d *Disk) fail(err error) {
	d.mu.Lock()
	end := d.end
	d.mu.Unlock()
	if end != nil {
		end(err)
		select {}
	}
}

// stateFS is a file system that implements storage.Ender.
type stateFS struct{ storage.FS }

// End implements storage.Ender: the goroutine never goes on, as that of a process that has
// ended.
func (stateFS) End(error) { select {} }

// Set changes the faults.
func (d *Disk) Set(change func(*Faults)) {
	d.mu.Lock()
	change(&d.faults)
	close(d.healed)
	d.healed = make(chan struct{})
	d.mu.Unlock()
	d.trace.Note("disk", d.name)
}

// before runs ahead of a write or a sync: it takes the time of the disk, and returns the
// fault that the call meets.
func (d *Disk) before(kind, path string) error {
	d.trace.Note(kind, d.name+":"+path)
	d.mu.Lock()
	f := d.faults
	var takes time.Duration
	if kind == "sync" {
		d.syncs++
		if d.speed.Sync > 0 {
			takes = time.Duration(d.draw.ExpFloat64()*float64(d.speed.Sync)) + f.Slow
		}
	}
	fails := f.Fail > 0 && d.draw.Float64() < f.Fail
	d.mu.Unlock()
	if kind == "sync" && f.Hang && d.speed.Sync > 0 {
		d.hang()
	}
	if takes > 0 {
		time.Sleep(takes)
	}
	switch {
	case d.speed.Sync == 0:
		return nil
	case f.Full && kind == "write":
		time.Sleep(failTakes)
		return syscall.ENOSPC
	case fails:
		time.Sleep(failTakes)
		return syscall.EIO
	}
	return nil
}

// failTakes is how long a call takes that fails: Pebble tries again at once.
const failTakes = 5 * time.Millisecond

// hang waits until the disk no longer hangs.
func (d *Disk) hang() {
	for {
		d.mu.Lock()
		hangs, healed := d.faults.Hang, d.healed
		d.mu.Unlock()
		if !hangs {
			return
		}
		<-healed
	}
}

// Crash returns the disk after a crash now. percent is the share of what was not synced
// that survives: 100 after the end of a process, less after a power failure. The faults of
// the disk stay.
func (d *Disk) Crash(percent int) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	after := &Disk{name: d.name, trace: d.trace, speed: d.speed, draw: d.draw, faults: d.faults, syncs: d.syncs, healed: make(chan struct{})}
	after.state = d.state.Crash(d.draw, percent)
	after.log = d.log.crash(after, d.draw, percent)
	return after
}

// Syncs returns how many syncs were made.
func (d *Disk) Syncs() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncs
}
