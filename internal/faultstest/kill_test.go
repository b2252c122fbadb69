package faultstest

import (
	"context"
	"strings"
	"testing"
	"time"
)

func has(p *process, text string) bool { return strings.Contains(p.said.String(), text) }

// appendUntil appends entries from n on until stop is closed, and yields the number of
// the first entry that was not acknowledged.
func appendUntil(t *testing.T, n uint64, stop <-chan struct{}, acked func(uint64), places ...*place) <-chan uint64 {
	t.Helper()
	c := dial(t, places...)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	done := make(chan uint64, 1)
	go func() {
		<-stop
		cancel()
	}()
	go func() {
		for ; ctx.Err() == nil; n++ {
			if err := write(ctx, c, n); err != nil {
				if ctx.Err() == nil {
					t.Errorf("append entry %d: %v", n, err)
				}
				break
			}
			acked(n)
		}
		done <- n
	}()
	return done
}

func TestAKilledNodeKeepsAllThatItAcknowledged(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "n1", "--bootstrap")
	n := p.start(t).ready()
	var next uint64
	for round := range 3 {
		stop, enough := make(chan struct{}), make(chan struct{})
		target := next + 300
		done := appendUntil(t, next, stop, func(acked uint64) {
			if acked == target {
				close(enough)
			}
		}, p)
		select {
		case <-enough:
		case <-time.After(waitMax):
			t.Fatal("the load does not get on")
		}
		n.kill() // during the next append
		close(stop)
		acked := <-done
		n = p.start(t).ready()
		got := count(t, dial(t, p))
		if got < acked || got > acked+1 { // the last append may have been applied
			t.Fatalf("round %d: %d entries, %d were acknowledged", round, got, acked)
		}
		next = got
	}
}
