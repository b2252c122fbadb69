package operator

import (
	"context"
	"sync/atomic"
	"time"

	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/pause"
)

// How long a census rests: censusRest at least, and censusShare times as long
// as it took, so that counting never is what the nodes are busy with.
const (
	censusRest  = 5 * time.Second
	censusShare = 4
)

// census counts the instances that are stored, again and again.
type census struct{ last atomic.Pointer[int] }

func newCensus() *census { return &census{} }

// stored is what the last count came to; nil before there is one.
func (c *census) stored() *int { return c.last.Load() }

// run counts until ctx ends. A count that fails is made again later.
func (c *census) run(ctx context.Context, s kit.Store) {
	for ctx.Err() == nil {
		began := time.Now()
		if count, err := countStored(ctx, s); err == nil {
			c.last.Store(&count)
		}
		pause.For(ctx, max(censusRest, censusShare*time.Since(began)))
	}
}
