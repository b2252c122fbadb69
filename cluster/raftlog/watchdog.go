package raftlog

import (
	"fmt"
	"sync"
	"time"
)

const (
	// hangDefault is how long a disk may take over one call. A healthy one
	// needs milliseconds, a throttled cloud volume seconds; the others have
	// long elected a new leader by then, if they were asked to.
	hangDefault = 10 * time.Second

	// hangTicks is in how many steps that time is counted. A process that was
	// stopped and goes on (SIGSTOP, a paused virtual machine) loses one step,
	// not the whole wait, so a pause is not mistaken for a dead disk.
	hangTicks = 10
)

// watch poisons the latch if the function that it returns is not called within
// l.hang. A leader whose disk hangs is otherwise leader for ever, since its
// heartbeats go on (hashicorp/raft#503). There is no time-out to return to the
// caller: what "timed out" might still land later.
func (l *latch) watch(what string) (done func()) {
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
		l.opened()                                                                                                           // nobody is left to return an error to
		_ = l.Poison(fmt.Errorf("%s: the disk has not answered for %v: check it, then start this node again", what, l.hang)) // the call itself may never return to hear of it
	})
	mu.Unlock()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		timer.Stop()
	}
}
