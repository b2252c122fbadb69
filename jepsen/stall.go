package jepsen

import (
	"context"
	"time"

	"dormouse/internal/pause"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

const (
	stallEvery = 50 * time.Millisecond
	// stallMin is the minimum delay of a wake-up that counts as a stall of the
	// machine. Leaders step down after twice that time without a majority: two nodes
	// may each be late, and later than the harness.
	stallMin = 250 * time.Millisecond
)

// stalls records each stall of the machine until ctx ends. The nodes did not run
// during a stall either, so the checkers do not blame them for it.
func (r *run) stalls(ctx context.Context) {
	for slept := time.Now(); pause.For(ctx, stallEvery); slept = time.Now() {
		if late := time.Since(slept) - stallEvery; late >= stallMin {
			r.record.Event(history.Event{Kind: history.EventNote, Name: check.NoteStalled, Detail: late.Round(time.Millisecond).String()})
		}
	}
}
