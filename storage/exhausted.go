package storage

import (
	"errors"
	"sync"
	"syscall"
	"time"
)

// Exhausted reports whether an engine could not be read because the process, or the
// machine, has no file descriptor or no memory left. Its files may be as they should be.
func Exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

const (
	// exhaustedMax is how long background work may fail for lack of descriptors or memory. Pebble
	// tries again at once; commits wait meanwhile if memtables cannot be flushed.
	exhaustedMax = 30 * time.Second
	// exhaustedGap without such a failure ends the shortage.
	exhaustedGap = 5 * time.Second
)

// shortage is a time in which background work fails for lack of descriptors or memory. Its methods
// may be called concurrently.
type shortage struct {
	mu          sync.Mutex
	first, last time.Time // guarded by mu
}

// note records a failure at a time. It returns whether the failure is the first of a shortage, and
// whether the shortage has lasted too long.
func (s *shortage) note(now time.Time) (first, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first = s.last.IsZero() || now.Sub(s.last) > exhaustedGap; first {
		s.first = now
	}
	s.last = now
	return first, now.Sub(s.first) > exhaustedMax
}
