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

// gate is what each call to a faulty disk passes before it reaches the files.
// Its zero value is not one; newGate makes one that lets everything through.
type gate struct {
	mu      sync.Mutex
	faults  faults        // guarded by mu
	changed chan struct{} // guarded by mu; closed, and replaced, when faults change
}

// faults are what is wrong with a disk; none is the zero value.
type faults struct {
	sync syncFault
	full bool          // writes, allocations and new files find no room
	slow time.Duration // how long each write and each sync takes
	hung bool          // nothing is answered but what a dying process needs
}

type syncFault uint8

const (
	syncWorks syncFault = iota
	syncFailsOnce
	syncFails
)

// call is a kind of calls that faults treat alike. Lookups, attributes, and the
// flush and release that closing a file needs are of no kind: the kernel has
// most of them cached, and a dying process must get through them.
type call uint8

const (
	callRead   call = iota
	callWrite       // takes room and time
	callSync        // takes time
	callCreate      // takes room
	callChange      // any other change
)

func newGate() *gate { return &gate{changed: make(chan struct{})} }

// set changes the faults and lets waiting calls look again.
func (g *gate) set(change func(*faults)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(&g.faults)
	close(g.changed)
	g.changed = make(chan struct{})
}

// look is what a call finds; a sync that is to fail once is it.
func (g *gate) look(c call) (f faults, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, changed = g.faults, g.changed
	if c == callSync && !f.hung && f.sync == syncFailsOnce {
		g.faults.sync = syncWorks
	}
	return f, changed
}

// pass holds the call up for as long as the faults say, and tells how it fails.
// It returns at once with EINTR when the process that made the call is killed.
func (g *gate) pass(ctx context.Context, c call) syscall.Errno {
	f, changed := g.look(c)
	for f.hung {
		if !waitFor(ctx, changed) {
			return syscall.EINTR
		}
		f, changed = g.look(c)
	}
	if f.slow > 0 && (c == callWrite || c == callSync) {
		over := make(chan struct{})
		timer := time.AfterFunc(f.slow, func() { close(over) })
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

// killedEvery is how soon a hung call notices that its process was killed, if
// it was interrupted before by something else.
const killedEvery = 20 * time.Millisecond

// waitFor waits for one of the events, and is false if the caller was killed
// first. Any signal interrupts a call, the Go runtime's own ones too, and only
// the first does; a disk that hangs must not become one that answers EINTR by
// that. So from the first on it asks whether the caller still lives.
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

// killed reports whether a thread is gone or about to be: the kernel gives each
// thread of a process that dies a SIGKILL of its own.
func killed(thread uint32) bool {
	status, err := os.Open(fmt.Sprintf("/proc/%d/status", thread))
	if err != nil {
		return true
	}
	defer func() { _ = status.Close() }() // only read
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
