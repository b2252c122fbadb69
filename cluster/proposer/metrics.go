package proposer

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dormouse/agent"
)

// Stats counts what a Proposer and its ReadIndex did.
type Stats struct {
	Entries   uint64 // log entries proposed
	Commits   uint64 // commits in them
	Bytes     uint64 // of those entries
	Rounds    uint64 // read-index rounds that a majority confirmed
	Refused   uint64 // commits and reads refused because too many waited
	Abandoned uint64 // commits that were not proposed because their callers gave up first
	Unknown   uint64 // entries with an unknown outcome
	WallSteps uint64 // entries whose wall time was held back from a step
	WallBacks uint64 // entries proposed while the system clock was behind the log
}

// Metrics counts what the proposer does, over all terms.
type Metrics struct {
	entries, commits, bytes, rounds, refused, abandoned, unknown atomic.Uint64
	wallSteps, wallBacks                                         atomic.Uint64
	cycleNS                                                      atomic.Int64 // of the last entry, from packed to applied
	applyNS                                                      atomic.Int64 // of the last entry, how long the state machine took

	// Histograms of commits and bytes of an entry, and of its time.
	Histograms                             []prometheus.Histogram
	commitsPerEntry, bytesPerEntry, cycles prometheus.Histogram
}

// NewMetrics returns counters that are zero.
func NewMetrics() *Metrics {
	histogram := func(name, what string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "dormouse", Subsystem: "cluster", Name: name, Help: what, Buckets: buckets,
		})
	}
	m := &Metrics{
		commitsPerEntry: histogram("entry_commits", "Commits packed into one log entry.", prometheus.ExponentialBuckets(1, 2, 11)),
		bytesPerEntry:   histogram("entry_bytes", "Bytes of one log entry.", prometheus.ExponentialBuckets(256, 4, 9)),
		cycles:          histogram("entry_seconds", "From packing an entry until it is applied here.", prometheus.ExponentialBuckets(0.0001, 2, 16)),
	}
	m.Histograms = []prometheus.Histogram{m.commitsPerEntry, m.bytesPerEntry, m.cycles}
	return m
}

// Applied records how long the state machine took for an entry.
func (m *Metrics) Applied(took time.Duration) { m.applyNS.Store(int64(took)) }

// Stats returns the counters.
func (m *Metrics) Stats() Stats {
	return Stats{
		Entries: m.entries.Load(), Commits: m.commits.Load(), Bytes: m.bytes.Load(), Rounds: m.rounds.Load(),
		Refused: m.refused.Load(), Abandoned: m.abandoned.Load(), Unknown: m.unknown.Load(), WallSteps: m.wallSteps.Load(), WallBacks: m.wallBacks.Load(),
	}
}

func (m *Metrics) sent(b *batch) {
	m.entries.Add(1)
	m.commits.Add(uint64(len(b.cmds)))
	m.bytes.Add(uint64(len(b.entry)))
	m.commitsPerEntry.Observe(float64(len(b.cmds)))
	m.bytesPerEntry.Observe(float64(len(b.entry)))
}

func (m *Metrics) settled(b *batch, err error) {
	b.took, b.applying = time.Since(b.started), time.Duration(m.applyNS.Load()) // no other entry is in flight
	m.cycleNS.Store(int64(b.took))
	m.cycles.Observe(b.took.Seconds())
	if err != nil && b.err == nil && outcome(err).Code == agent.CodeUnknown { // else it is counted since CommitTimeout
		m.unknown.Add(1)
	}
}
