package top

import (
	"context"
	"sync/atomic"
	"time"

	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/pause"
)

// The pause between two counts is at least censusRest, and at least censusShare times
// the duration of the last count, which bounds the load on the nodes.
const (
	censusRest  = 5 * time.Second
	censusShare = 4
)

// census counts the stored instances periodically.
type census struct {
	last atomic.Pointer[int]
	off  atomic.Bool // the number is not shown now: it does not count
}

func newCensus() *census { return &census{} }

// stored returns the result of the last count; nil before the first one.
func (c *census) stored() *int { return c.last.Load() }

// show sets whether the number is shown, and so whether it counts.
func (c *census) show(shown bool) { c.off.Store(!shown) }

// run counts until ctx ends. It ignores a count that fails, and tries again after the
// pause.
func (c *census) run(ctx context.Context, s kit.Store) {
	for ctx.Err() == nil {
		began := time.Now()
		if !c.off.Load() {
			if count, err := countStored(ctx, s); err == nil {
				c.last.Store(&count)
			}
		}
		pause.For(ctx, max(censusRest, censusShare*time.Since(began)))
	}
}
