package disk

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// gate is passed by each call to a faulty disk before it reaches the files. Use
// newGate to create one; the zero value is not usable.
type gate struct {
	mu      sync.Mutex
	faults  faults        // guarded by mu
	changed chan struct{} // guarded by mu; closed, and replaced, when faults change
}

// faults are the faults of a disk; the zero value means none.
type faults struct {
	sync syncFault
	full bool          // writes, allocations and new files fail for lack of space
	slow time.Duration // delay of each write and each sync
	late time.Duration // further delay of each sync
	hung bool          // all calls wait except those that a dying process needs
}

type syncFault uint8

const (
	syncWorks syncFault = iota
	syncFailsOnce
	syncFails
)

// call is a kind of calls that faults treat alike. Lookups, attributes, and the flush
// and release of closing a file have no kind. The kernel caches most of them, and a
// dying process must complete them.
type call uint8

const (
	callRead   call = iota
	callWrite       // needs space and time
	callSync        // needs time
	callCreate      // needs space
	callChange      // any other change
)

func newGate() *gate { return &gate{changed: make(chan struct{})} }

// set changes the faults and wakes waiting calls.
func (g *gate) set(change func(*faults)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(&g.faults)
	close(g.changed)
	g.changed = make(chan struct{})
}

// look returns the current faults for a call. The next sync consumes syncFailsOnce.
func (g *gate) look(c call) (f faults, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, changed = g.faults, g.changed
	if c == callSync && !f.hung && f.sync == syncFailsOnce {
		g.faults.sync = syncWorks
	}
	return f, changed
}

// pass delays the call as the faults require and returns its error. It returns EINTR
// at once when the process that made the call is killed.
func (g *gate) pass(ctx context.Context, c call) syscall.Errno {
	f, changed := g.look(c)
	for f.hung {
		if !waitFor(ctx, changed) {
			return syscall.EINTR
		}
		f, changed = g.look(c)
	}
	if wait := f.delay(c); wait > 0 {
		over := make(chan struct{})
		timer := time.AfterFunc(wait, func() { close(over) })
		defer timer.Stop()
		if !waitFor(ctx, over, changed) {
			return syscall.EINTR
		}
	}
	switch {
	case c == callSync && f.sync != syncWorks:
		return syscall.EIO
	case f.full && (c == callWrite || c == callCreate):
		return syscall.ENOSPC
	default:
		return 0
	}
}

// delay returns how long a call waits that does not hang.
func (f faults) delay(c call) time.Duration {
	switch c {
	case callWrite:
		return f.slow
	case callSync:
		return f.slow + f.late
	default:
		return 0
	}
}

// killedEvery is the interval of the check for a killed process, once another signal
// has interrupted the call.
const killedEvery = 20 * time.Millisecond

// waitFor waits for one of the events. It returns false if the caller was killed
// first. Any signal interrupts a call, including those of the Go runtime, but only the
// first signal does. A hung disk must not answer EINTR for such a signal, so after the
// first one waitFor polls whether the caller still exists.
func waitFor(ctx context.Context, events ...<-chan struct{}) bool {
	first, second := events[0], events[len(events)-1]
	select {
	case <-first:
		return true
	case <-second:
		return true
	case <-ctx.Done():
	}
	tick := time.NewTicker(killedEvery)
	defer tick.Stop()
	for {
		if caller, ok := fuse.FromContext(ctx); ok && killed(caller.Pid) {
			return false
		}
		select {
		case <-first:
			return true
		case <-second:
			return true
		case <-tick.C:
		}
	}
}

// killed reports whether a thread has ended or will: the kernel sends a SIGKILL to
// each thread of a process that dies.
func killed(thread uint32) bool {
	status, err := os.Open(fmt.Sprintf("/proc/%d/status", thread))
	if err != nil {
		return true
	}
	defer func() { _ = status.Close() }() // read only
	const kill = 1 << (uint(syscall.SIGKILL) - 1)
	for lines := bufio.NewScanner(status); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if name != "SigPnd" && name != "ShdPnd" {
			continue
		}
		if pending, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64); err == nil && pending&kill != 0 {
			return true
		}
	}
	return false
}
