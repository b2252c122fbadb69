// Package descriptors watches how many file descriptors the process has open: without one, the
// storage engine fails, and the process ends.
package descriptors

import (
	"os"
	"sync"
	"syscall"
	"time"
)

// Least is the smallest limit with which a node starts.
const Least = 192

// reserveMax bounds Reserve.
const reserveMax = 4096

// Limit returns how many descriptors the process may have open. Go's runtime raises the limit of the
// process to the highest that is allowed. It returns 0 if the system does not say.
func Limit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<30)) //nolint:gosec // bounded
}

// EngineFiles returns how many table files the storage engine may keep open under a limit: a quarter,
// and at most most.
func EngineFiles(limit, most int) int {
	if limit == 0 {
		return most
	}
	return min(most, limit/4)
}

// reserve returns how many descriptors connections leave free under a limit: for the engine's files,
// the log and the connections between nodes.
func reserve(limit int) int { return min(limit/4+48, reserveMax) }

const (
	countEvery = time.Second           // counting many descriptors takes milliseconds
	roomEvery  = 50 * time.Millisecond // how often a listener that waits looks again
)

// Guard lets listeners wait while few descriptors are left.
type Guard struct {
	most int // open descriptors from which listeners wait; 0 means no bound

	mu    sync.Mutex
	open  int       // guarded by mu; as counted at counted
	taken int       // guarded by mu; connections accepted since then
	at    time.Time // guarded by mu
}

// NewGuard returns a Guard for the process's limit.
func NewGuard() *Guard {
	limit := Limit()
	if limit == 0 {
		return &Guard{}
	}
	return &Guard{most: limit - reserve(limit)}
}

// Room waits until there is a descriptor for one more connection. It returns false if closed is
// closed first.
func (g *Guard) Room(closed <-chan struct{}) bool {
	for !g.try() {
		timer := time.NewTimer(roomEvery)
		select {
		case <-timer.C:
		case <-closed:
			timer.Stop()
			return false
		}
	}
	return true
}

// try reports whether there is room, and counts it as used.
func (g *Guard) try() bool {
	if g.most == 0 {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := time.Now(); now.Sub(g.at) > countEvery || g.open+g.taken >= g.most {
		open, err := Open()
		if err != nil {
			return true // this system does not say
		}
		g.open, g.taken, g.at = open, 0, now
	}
	if g.open+g.taken >= g.most {
		return false
	}
	g.taken++
	return true
}

// Open returns how many descriptors the process has open.
func Open() (int, error) {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return 0, err //nolint:wrapcheck // names the path
	}
	names, err := dir.Readdirnames(-1)
	_ = dir.Close()        // it was only read
	return len(names), err //nolint:wrapcheck // names the path
}
