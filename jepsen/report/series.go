package report

import (
	"slices"
	"time"

	"dormouse/jepsen/history"
)

// bucketsMax bounds the buckets of a plot: a reader could not see more.
const bucketsMax = 300

// series groups the calls of a history by time, in consecutive buckets of one width.
type series struct {
	width   time.Duration
	buckets []bucket
}

// bucket counts the calls that ended within one interval. Calls with an unknown outcome
// count in the bucket of their start.
type bucket struct {
	ok, refused, unknown int
	p50, p99             time.Duration // of those that are ok; 0 where none is
}

func newSeries(h *history.History, end time.Duration) series {
	s := series{width: width(end)}
	s.buckets = make([]bucket, end/s.width+1)
	took := make([][]time.Duration, len(s.buckets))
	for _, op := range h.Ops {
		at := op.Return
		if at == history.Never {
			at = op.Invoke
		}
		i := at / s.width
		b := &s.buckets[i]
		switch op.Outcome {
		case history.OK:
			b.ok++
			took[i] = append(took[i], op.Return-op.Invoke)
		case history.Refused:
			b.refused++
		default:
			b.unknown++
		}
	}
	for i := range s.buckets {
		slices.Sort(took[i])
		s.buckets[i].p50, s.buckets[i].p99 = quantile(took[i], 0.50), quantile(took[i], 0.99)
	}
	return s
}

// width returns the smallest round width that needs at most bucketsMax buckets.
func width(end time.Duration) time.Duration {
	for _, w := range []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second} {
		if end/w < bucketsMax {
			return w
		}
	}
	return (end/bucketsMax + time.Minute).Truncate(time.Minute)
}
