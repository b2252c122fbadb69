package client

import (
	"crypto/rand"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	"dormouse/agent"
)

// signalWindowSpan is how many numbers a window of signals has. The cluster keeps the answers of a window
// from the lowest awaited number on, and a signal may take an hour.
const signalWindowSpan = 256

// requestWindows number the commits, or the signals, of a client. A slow one holds the lowest number of
// its window: when that is full, the next ones are of another window, whose client id is its own.
type requestWindows struct {
	slots *semaphore.Weighted // requests in flight; they bound the windows, because each full one has a request
	span  int                 // numbers of one window, at most agent.RequestWindowMax

	mu  sync.Mutex
	all []*requestWindow // guarded by mu, at least one; a request uses the first that is not full
}

// newRequestWindows returns windows of which the first has that client id.
func newRequestWindows(client string, inFlightMax, span int) *requestWindows {
	return &requestWindows{
		slots: semaphore.NewWeighted(int64(inFlightMax)), span: span, all: []*requestWindow{newRequestWindow(client, span)},
	}
}

// next returns a window with its next number. The caller holds a slot, and calls settle of the window.
func (s *requestWindows) next() (w *requestWindow, seq, low uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.all {
		if seq, low, ok := w.try(); ok {
			return w, seq, low
		}
	}
	w = newRequestWindow(anotherID(s.all[0].client), s.span)
	s.all = append(s.all, w)
	seq, low, _ = w.try()
	return w, seq, low
}

// anotherID returns a client id that begins with another one, as far as there is room, and that no
// other client has.
func anotherID(client string) string {
	random := "/" + rand.Text()
	begin := client[:min(len(client), agent.IDBytesMax-len(random))]
	return strings.ToValidUTF8(begin, "") + random
}

// requestWindow numbers requests of one client id, and tracks the lowest one still awaited.
//
// Invariant: low <= next <= low + len(settled), which is at most agent.RequestWindowMax,
// the number of answers that the cluster keeps for one client. One slow commit holds low
// while others complete, so a limit on commits in flight is not enough.
type requestWindow struct {
	client string

	mu      sync.Mutex
	next    uint64 // guarded by mu; the next number, from 1
	low     uint64 // guarded by mu; the lowest still awaited, or next
	settled []bool // guarded by mu; by number modulo its length, which never changes, for low..next-1
}

func newRequestWindow(client string, span int) *requestWindow {
	return &requestWindow{client: client, next: 1, low: 1, settled: make([]bool, span)}
}

// place returns where settled has a number. mu is held.
func (l *requestWindow) place(seq uint64) *bool { return &l.settled[seq%uint64(len(l.settled))] }

// try returns the next number, unless the window is full.
func (l *requestWindow) try() (seq, low uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next-l.low >= uint64(len(l.settled)) {
		return 0, 0, false
	}
	seq = l.next
	l.next++
	return seq, l.low, true
}

// settle records that seq is no longer awaited.
func (l *requestWindow) settle(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*l.place(seq) = true
	for l.low < l.next && *l.place(l.low) {
		*l.place(l.low) = false
		l.low++
	}
}

// lowest returns the lowest number still awaited.
func (l *requestWindow) lowest() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.low
}

// another returns an unused number of the first window, for seededbug.RetryWithFreshID, or seq if
// that window is full. Programs without the build tag seeded do not contain it.
func (s *requestWindows) another(seq uint64) uint64 {
	s.mu.Lock()
	first := s.all[0]
	s.mu.Unlock()
	fresh, _, ok := first.try()
	if !ok {
		return seq
	}
	first.settle(fresh)
	return fresh
}
