package history_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/internal/history"
)

func TestAStepHasItsCallsAndTheirPercentiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := history.New()
		random := rand.New(rand.NewPCG(1, 2))
		var all []time.Duration
		for range 10_000 {
			took := time.Duration(math.Exp(random.Float64()*16)) * time.Microsecond
			all = append(all, took)
			h.Observe(history.Writes, took, 1)
		}
		slices.Sort(all)
		s := h.Snapshot()
		if len(s.Writes.Calls) != 1 || s.Writes.Calls[0] != 10_000 {
			t.Fatalf("the step has %v calls, want 10000", s.Writes.Calls)
		}
		for what, pair := range map[string][2]time.Duration{"p50": {s.Writes.P50[0], all[4999]}, "p99": {s.Writes.P99[0], all[9899]}} {
			if ratio := float64(pair[0]) / float64(pair[1]); ratio < 0.9 || ratio > 1.1 {
				t.Errorf("%s is %v, want %v within 10%%", what, pair[0], pair[1])
			}
		}
		if s.Reads.Calls[0] != 0 || s.Reads.P99[0] != 0 {
			t.Errorf("the reads, of which there were none, are %v", s.Reads)
		}
	})
}

func TestAStepHasTenSecondsAndAHistoryAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := history.New()
		if s := h.Snapshot(); len(s.Writes.Calls) != 0 {
			t.Fatalf("a new history has %d steps", len(s.Writes.Calls))
		}
		began := time.Now().Truncate(history.StepLength)
		for i := range 3 {
			h.Observe(history.Signals, time.Millisecond, i+1)
			time.Sleep(history.StepLength)
		}
		s := h.Snapshot()
		if !slices.Equal(s.Signals.Calls, []uint64{1, 2, 3, 0}) || !s.From.Equal(began) {
			t.Errorf("the steps are %v from %v, want 1, 2, 3 and an empty one from %v", s.Signals.Calls, s.From, began)
		}
		time.Sleep((history.Steps - 3) * history.StepLength)
		s = h.Snapshot()
		if len(s.Signals.Calls) != history.Steps || s.Signals.Calls[0] != 2 || s.Signals.Calls[1] != 3 {
			t.Errorf("after an hour there are %d steps, the first are %v; want %d, and 2, 3", len(s.Signals.Calls), s.Signals.Calls[:3], history.Steps)
		}
		time.Sleep(history.Steps * history.StepLength)
		if s = h.Snapshot(); slices.Max(s.Signals.Calls) != 0 || len(s.Signals.P50) != history.Steps {
			t.Errorf("an hour later there are still calls: %v", s.Signals.Calls)
		}
	})
}

func TestNoDurationIsOutsideTheBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, took := range []time.Duration{-time.Second, 0, time.Nanosecond, 7 * time.Microsecond, 8 * time.Microsecond, 15 * time.Microsecond, 16 * time.Microsecond, time.Hour, math.MaxInt64} {
			h := history.New()
			h.Observe(history.Reads, took, 1)
			got := h.Snapshot().Reads.P50[0]
			want := min(max(took, 0), 277*time.Minute)
			if got < want*9/10 || got > want*11/10+time.Microsecond {
				t.Errorf("a call of %v counts as one of %v", took, got)
			}
		}
	})
}

func TestAHistoryTakesConcurrentCalls(t *testing.T) {
	h := history.New()
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 500 {
				h.Observe(history.Reads, time.Millisecond, 2)
				h.Snapshot()
			}
		})
	}
	callers.Wait()
	total := uint64(0)
	for _, n := range h.Snapshot().Reads.Calls {
		total += n
	}
	if total != 8*500*2 {
		t.Errorf("the history has %d calls, want %d", total, 8*500*2)
	}
}
