package raftlog

import (
	"sync/atomic"
	"time"
)

// paceWeight is the weight of the newest write in the average: one part in so many.
const paceWeight = 16

// pace is the moving average of how long a write to the log takes. Its methods may be
// called concurrently.
type pace struct{ average atomic.Int64 } // nanoseconds; 0 before the first write

func (p *pace) note(took time.Duration) {
	for {
		old := p.average.Load()
		next := old + (int64(took)-old)/paceWeight
		if old == 0 {
			next = int64(took)
		}
		if p.average.CompareAndSwap(old, next) {
			return
		}
	}
}

// FlushTime returns the moving average of the time of a durable write; 0 before the first.
func (l *FailStop) FlushTime() time.Duration { return time.Duration(l.pace.average.Load()) }
