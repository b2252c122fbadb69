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
	// stallMin is how late the harness must wake to take the machine for one that
	// stands still. Leaders give up after twice as long without a majority: two
	// nodes may be late, and either later than the harness.
	stallMin = 250 * time.Millisecond
)

// stalls notes each time that the machine did not let the harness run, and so
// the nodes neither, until ctx ends: what they do then is not their own fault.
func (r *run) stalls(ctx context.Context) {
	for slept := time.Now(); pause.For(ctx, stallEvery); slept = time.Now() {
		if late := time.Since(slept) - stallEvery; late >= stallMin {
			r.record.Event(history.Event{Kind: history.EventNote, Name: check.NoteStalled, Detail: late.Round(time.Millisecond).String()})
		}
	}
}
