// Package retry paces repeated attempts.
package retry

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"dormouse/internal/pause"
)

// jitter is the part of a pause by which it is randomized in both directions, so that
// callers that failed together do not retry together.
const jitter = 0.5

// Backoff yields the pauses between attempts. It may be used by one goroutine at a
// time.
type Backoff struct{ exponential backoff.ExponentialBackOff }

// New returns a Backoff whose pauses begin at about first and double up to about most.
func New(first, most time.Duration) *Backoff {
	return &Backoff{backoff.ExponentialBackOff{
		InitialInterval: first, MaxInterval: most, Multiplier: 2, RandomizationFactor: jitter,
	}}
}

// Next returns the next pause.
func (b *Backoff) Next() time.Duration { return b.exponential.NextBackOff() }

// Reset makes the next pause the first one again.
func (b *Backoff) Reset() { b.exponential.Reset() }

// Wait waits for the next pause, or until ctx ends. It reports whether ctx has not
// ended.
func (b *Backoff) Wait(ctx context.Context) bool { return pause.For(ctx, b.Next()) }
