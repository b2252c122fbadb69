package workload

import (
	"context"
	"time"
)

// PaceDefault is the mean wait between two calls of a process. A dozen processes make
// a thousand calls a second, which two cores can serve.
const PaceDefault = 10 * time.Millisecond

// Pace waits between two calls of a process. It returns false when ctx has ended.
func Pace(ctx context.Context, p *Process) bool {
	mean := p.Pace
	if mean == 0 {
		mean = PaceDefault
	}
	select {
	case <-time.After(time.Duration(p.Rand.ExpFloat64() * float64(mean))):
		return true
	case <-ctx.Done():
		return false
	}
}

// Hang waits for the duration d, or until ctx ends.
func Hang(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
