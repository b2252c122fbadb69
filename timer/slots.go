package timer

import (
	"context"
	"sync"
	"time"
)

// Limits of concurrent signals. After downtime many timers may be due at once: the limits also bound
// the number of instances that wake.
const (
	signalsMax      = 128            // of all scopes, which share them
	scopeSignalsMax = signalsMax / 2 // of a scope, while others have none

	// scopeSignalsMin is how many signals a scope may have if the others leave it none of the shared
	// ones; reservedMax is how many there are of these, of all scopes.
	scopeSignalsMin = 2
	reservedMax     = 2 * signalsMax

	// slotWait is how long a scope that has its share waits for one of its signals to end. After that
	// the waker goes on with the next scope.
	slotWait = 10 * time.Millisecond
)

// slots shares the concurrent signals between scopes. A scope may have as many as are free: one
// alone has half of all, the next one a quarter. When few are free, a scope may still have
// scopeSignalsMin. So scopes whose handlers hang do not stop the timers of others.
type slots struct {
	mu      sync.Mutex
	free    int             // of signalsMax; below 0 while reserved ones are used; guarded by mu
	used    map[string]int  // by scope; guarded by mu
	slow    map[string]bool // scopes that waited in vain, and of whose signals none has ended since; guarded by mu
	refused bool            // a slot was refused since beginPass; guarded by mu
	freed   chan struct{}   // closed and replaced when a slot is released; guarded by mu
}

func newSlots() *slots {
	return &slots{free: signalsMax, used: map[string]int{}, slow: map[string]bool{}, freed: make(chan struct{})}
}

// beginPass notes that all due timers are read from now on.
func (s *slots) beginPass() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = false
}

// acquire takes a slot for a signal of a scope. It returns false if the scope has its share, and
// none of its signals ends in time. The next release then reports that a slot was refused.
func (s *slots) acquire(ctx context.Context, scope string) bool {
	var late <-chan time.Time
	for waited := false; ; {
		s.mu.Lock()
		if used := s.used[scope]; used < s.free || used < scopeSignalsMin && s.free > -reservedMax {
			s.free--
			s.used[scope]++
			s.mu.Unlock()
			return true
		}
		if waited || s.slow[scope] {
			if s.used[scope] > 0 {
				s.slow[scope] = true
			}
			s.refused = true
			s.mu.Unlock()
			return false
		}
		freed := s.freed
		s.mu.Unlock()
		if late == nil {
			timer := time.NewTimer(slotWait)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-freed:
		case <-late:
			waited = true
		case <-ctx.Done():
			return false
		}
	}
}

// release gives a slot of a scope back. It reports whether a slot was refused since beginPass: the
// due timers must then be read again.
func (s *slots) release(scope string) (refused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	if s.used[scope]--; s.used[scope] == 0 {
		delete(s.used, scope)
	}
	delete(s.slow, scope)
	close(s.freed)
	s.freed = make(chan struct{})
	return s.refused
}
