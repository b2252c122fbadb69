package workload

import (
	"context"
	"time"
)

// paceMean is the mean wait between two calls of a process: a dozen processes
// come to a few hundred calls a second, which two cores bear.
const paceMean = 25 * time.Millisecond

// pace waits between two calls of a process; false when ctx has ended.
func pace(ctx context.Context, p *Process) bool {
	select {
	case <-time.After(time.Duration(p.Rand.ExpFloat64() * float64(paceMean))):
		return true
	case <-ctx.Done():
		return false
	}
}
