package history

import (
	"math"
	"math/bits"
	"time"
)

// Durations are counted in buckets: 8 for each power of two of microseconds, up to four hours.
const (
	fractionBits = 3
	buckets      = 32 << fractionBits
)

// openStep counts the calls of the present step.
type openStep struct {
	number int64
	calls  uint64
	counts [buckets]uint64
}

// add counts calls.
func (s *openStep) add(took time.Duration, calls uint64) {
	s.calls += calls
	s.counts[bucketOf(took)] += calls
}

// close returns what is kept of the step.
func (s *openStep) close() closedStep {
	return closedStep{number: s.number, calls: s.calls, p50: s.percentile(0.50), p99: s.percentile(0.99)}
}

// percentile returns the middle of the bucket that the percentile falls into; 0 without calls.
func (s *openStep) percentile(q float64) time.Duration {
	if s.calls == 0 {
		return 0
	}
	rank, seen := uint64(math.Ceil(q*float64(s.calls))), uint64(0)
	for i, n := range s.counts {
		if seen += n; seen >= rank {
			return (lowest(i) + lowest(i+1)) / 2
		}
	}
	return lowest(buckets)
}

// bucketOf returns the bucket of a duration. Durations below 8 µs have a bucket for each microsecond.
func bucketOf(took time.Duration) int {
	us := uint64(max(0, took.Microseconds()))
	if us < 1<<fractionBits {
		return int(us)
	}
	exponent := bits.Len64(us) - 1 - fractionBits
	return min(exponent<<fractionBits+int(us>>exponent), buckets-1)
}

// lowest returns the lowest duration of bucket i.
func lowest(i int) time.Duration {
	if i < 2<<fractionBits {
		return time.Duration(i) * time.Microsecond
	}
	exponent := i>>fractionBits - 1
	return time.Duration((i&(1<<fractionBits-1))+1<<fractionBits) << exponent * time.Microsecond
}
