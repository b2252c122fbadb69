package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/internal/retry"
)

func TestPausesDoubleUpToTheLongest(t *testing.T) {
	for range 100 {
		b := retry.New(10*time.Millisecond, 80*time.Millisecond)
		for round := range 2 {
			for _, middle := range []time.Duration{10, 20, 40, 80, 80, 80} {
				middle *= time.Millisecond
				if got := b.Next(); got < middle/2 || got > 3*middle/2 {
					t.Fatalf("round %d: a pause of %v, want %v or a half of it more or less", round, got, middle)
				}
			}
			b.Reset()
		}
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := retry.New(time.Second, time.Second)
		if began := time.Now(); !b.Wait(t.Context()) || time.Since(began) < time.Second/2 {
			t.Error("it did not wait")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if b.Wait(ctx) {
			t.Error("it does not say that its context has ended")
		}
	})
}
