package load

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latency is the distribution of the time between call and answer, in milliseconds.
type Latency struct {
	P50 float64 `json:"p50_ms"`
	P90 float64 `json:"p90_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
}

// The resolution: three digits of microseconds, up to a minute.
const (
	latencyMax    = time.Minute
	latencyDigits = 3
	shards        = 16 // so that callers rarely wait for each other
)

// latencies collects the latencies of many callers.
type latencies [shards]struct {
	mu        sync.Mutex
	histogram *hdrhistogram.Histogram // in microseconds; guarded by mu
}

func newLatencies() *latencies {
	l := new(latencies)
	for i := range l {
		l[i].histogram = hdrhistogram.New(1, latencyMax.Microseconds(), latencyDigits)
	}
	return l
}

// add counts one latency. Latencies above latencyMax count as latencyMax.
func (l *latencies) add(caller int, d time.Duration) {
	s := &l[caller%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.histogram.RecordValue(min(max(d, time.Microsecond), latencyMax).Microseconds()) // the value is in range
}

// merged returns the distribution and the number of all latencies.
func (l *latencies) merged() (Latency, int64) {
	all := hdrhistogram.New(1, latencyMax.Microseconds(), latencyDigits)
	for i := range l {
		l[i].mu.Lock()
		all.Merge(l[i].histogram)
		l[i].mu.Unlock()
	}
	ms := func(us int64) float64 { return float64(us) / 1e3 }
	return Latency{
		P50: ms(all.ValueAtQuantile(50)), P90: ms(all.ValueAtQuantile(90)),
		P99: ms(all.ValueAtQuantile(99)), Max: ms(all.Max()),
	}, all.TotalCount()
}
