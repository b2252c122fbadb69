package pause_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/internal/pause"
)

func TestForWaitsUnlessItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if !pause.For(t.Context(), time.Second) || time.Since(began) != time.Second {
			t.Errorf("it waited for %v", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if pause.For(ctx, time.Minute) || time.Since(began) != 2*time.Second {
			t.Errorf("it waited for %v", time.Since(began)-time.Second)
		}
		if pause.For(ctx, 0) {
			t.Error("it stands, though it has ended")
		}
	})
}
