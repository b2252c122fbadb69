package timer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/timer"
)

// A timer whose backoff ends while the waker reads later pages is retried
// without another event.
func TestABackoffThatEndsDuringAPassIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.onPage(func(from string) {
			if from != "" {
				time.Sleep(300 * time.Millisecond)
			}
		})
		w.handle = func(_ context.Context, n int, s agent.Signal) error {
			if n == 0 {
				return agent.Errorf(agent.CodeUnavailable, "not now")
			}
			return w.apply(s.Ack)
		}
		w.put(nil, "a")
		synctest.Wait() // it is in backoff
		w.put(nil, keys("b", timer.PageSize)...)
		w.idle(t)
		retried := 0
		for _, s := range w.signals {
			if s.key == "a" {
				retried++
			}
		}
		if n := len(w.signals); n != 2+timer.PageSize || retried != 2 || len(w.ops) != 0 {
			t.Errorf("%d signals, %d to a", n, retried)
		}
	})
}
