package raftlog

import (
	"fmt"
	"sync"
	"time"
)

const (
	// hangDefault bounds one call to a disk. A healthy disk needs milliseconds, a
	// throttled cloud volume seconds.
	hangDefault = 10 * time.Second

	// hangTicks is the number of steps in which that time is counted. A process that
	// was paused (SIGSTOP, a paused virtual machine) loses one step, not the whole
	// wait, so a pause is not mistaken for a disk that hangs.
	hangTicks = 10
)

// watch ends the node if the returned function is not called within l.hang. A
// leader whose disk hangs would otherwise stay leader, since its heartbeats go on
// (hashicorp/raft#503). The caller cannot be given a timeout error: the write may
// still reach the disk later.
func (l *FailStop) watch(what string) (done func()) {
	if l.hang <= 0 {
		return func() {}
	}
	var (
		mu    sync.Mutex
		ticks int
		over  bool
		timer *time.Timer
	)
	mu.Lock()
	timer = time.AfterFunc(l.hang/hangTicks, func() {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		if ticks++; ticks < hangTicks {
			timer.Reset(l.hang / hangTicks)
			return
		}
		l.opened()                                                                                                           // no caller can receive an error any more
		_ = l.Poison(fmt.Errorf("%s: the disk has not answered for %v: check it, then start this node again", what, l.hang)) // the call itself may never return
	})
	mu.Unlock()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		timer.Stop()
	}
}
