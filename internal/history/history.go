// Package history keeps the number and the latencies of a node's calls over the last hour, in
// memory. It never holds more than Steps steps.
package history

import (
	"sync"
	"time"
)

// A history has one step for each StepLength of the last hour.
const (
	StepLength = 10 * time.Second
	Steps      = 360
)

// Kind is a kind of calls.
type Kind int

// The kinds of calls that a History tells apart.
const (
	Writes Kind = iota
	Reads
	Signals
	kinds
)

// Series is what a History holds of one kind of calls: an element for each step, oldest first. The
// percentiles of a step without calls are 0.
type Series struct {
	Calls []uint64
	P50   []time.Duration // within 10% of the exact value
	P99   []time.Duration
}

// Snapshot is a copy of a History. Steps that no call fell into before the first call of all are left
// out, so a Snapshot of a new node is short.
type Snapshot struct {
	From                   time.Time // when the first step began
	Writes, Reads, Signals Series    // all of the same length
}

// History records calls. It may be used concurrently. Use New.
type History struct {
	mu    sync.Mutex
	first int64                    // guarded by mu; the number of the first step that has a call; 0 if there is none
	rings [kinds][Steps]closedStep // guarded by mu; step n is at n % Steps
	open  [kinds]openStep          // guarded by mu
}

// closedStep is what is kept of a step after its end.
type closedStep struct {
	number   int64 // since the Unix epoch, in StepLength
	calls    uint64
	p50, p99 time.Duration
}

// New returns an empty History.
func New() *History { return &History{} }

// Observe records calls that ended now and each took the duration.
func (h *History) Observe(kind Kind, took time.Duration, calls int) {
	if calls <= 0 {
		return
	}
	now := stepOf(time.Now())
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.first == 0 {
		h.first = now
	}
	open := &h.open[kind]
	if now > open.number { // a clock that was set back adds to the open step
		h.end(kind, now)
	}
	open.add(took, uint64(calls))
}

// end closes the open step of a kind, and opens the step now.
func (h *History) end(kind Kind, now int64) {
	if open := &h.open[kind]; open.calls > 0 {
		h.rings[kind][open.number%Steps] = open.close()
	}
	h.open[kind] = openStep{number: now}
}

// Snapshot returns the steps up to the present one, which has not ended.
func (h *History) Snapshot() Snapshot {
	now := stepOf(time.Now())
	h.mu.Lock()
	defer h.mu.Unlock()
	from := now + 1 // no step
	if h.first != 0 {
		from = max(h.first, now-Steps+1)
	}
	return Snapshot{
		From:   time.Unix(0, 0).Add(time.Duration(from) * StepLength),
		Writes: h.series(Writes, from, now), Reads: h.series(Reads, from, now), Signals: h.series(Signals, from, now),
	}
}

// series returns the steps of a kind.
func (h *History) series(kind Kind, from, to int64) Series {
	s := Series{Calls: []uint64{}, P50: []time.Duration{}, P99: []time.Duration{}}
	open := h.open[kind].close()
	for number := from; number <= to; number++ {
		step := h.rings[kind][number%Steps]
		if open.number == number {
			step = open
		}
		if step.number != number {
			step = closedStep{}
		}
		s.Calls = append(s.Calls, step.calls)
		s.P50 = append(s.P50, step.p50)
		s.P99 = append(s.P99, step.p99)
	}
	return s
}

// stepOf returns the number of the step that an instant belongs to. All nodes number alike.
func stepOf(at time.Time) int64 { return at.UnixNano() / int64(StepLength) }
