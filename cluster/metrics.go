package cluster

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dormouse/agent"
)

// Stats counts what a group did since it was opened.
type Stats struct {
	Entries   uint64 // log entries proposed
	Commits   uint64 // commits in them
	Bytes     uint64 // of those entries
	Rounds    uint64 // of questions to the voters, for reads, that were answered
	Refused   uint64 // commits and reads refused because too many waited
	Unknown   uint64 // entries whose outcome was not learnt
	WallSteps uint64 // entries whose wall time was held back from a step
	WallBacks uint64 // entries proposed while the system clock was behind the log
	Snapshots uint64 // snapshots that compaction asked for
	Installs  uint64 // snapshots that this node received from a leader and installed
}

// metrics counts. The zero value is not usable; see newMetrics.
type metrics struct {
	entries, commits, bytes, rounds, refused, unknown atomic.Uint64
	wallSteps, wallBacks, snapshots                   atomic.Uint64
	cycleNS                                           atomic.Int64 // of the last entry, from packed to applied

	commitsPerEntry prometheus.Histogram
	bytesPerEntry   prometheus.Histogram
	cycle           prometheus.Histogram
}

func newMetrics() *metrics {
	histogram := func(name, what string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "dormouse", Subsystem: "cluster", Name: name, Help: what, Buckets: buckets,
		})
	}
	return &metrics{
		commitsPerEntry: histogram("entry_commits", "Commits packed into one log entry.", prometheus.ExponentialBuckets(1, 2, 11)),
		bytesPerEntry:   histogram("entry_bytes", "Bytes of one log entry.", prometheus.ExponentialBuckets(256, 4, 9)),
		cycle:           histogram("entry_seconds", "From packing an entry until it is applied here.", prometheus.ExponentialBuckets(0.0001, 2, 16)),
	}
}

func (m *metrics) sent(b *batch) {
	m.entries.Add(1)
	m.commits.Add(uint64(len(b.cmds)))
	m.bytes.Add(uint64(len(b.entry)))
	m.commitsPerEntry.Observe(float64(len(b.cmds)))
	m.bytesPerEntry.Observe(float64(len(b.entry)))
}

func (m *metrics) settled(b *batch, err error) {
	b.took = time.Since(b.started)
	m.cycleNS.Store(int64(b.took))
	m.cycle.Observe(b.took.Seconds())
	if err != nil && outcome(err).Code == agent.CodeUnknown {
		m.unknown.Add(1)
	}
}

// Stats are the group's counters.
func (g *Group) Stats() Stats {
	m := g.metrics
	return Stats{
		Entries: m.entries.Load(), Commits: m.commits.Load(), Bytes: m.bytes.Load(), Rounds: m.rounds.Load(),
		Refused: m.refused.Load(), Unknown: m.unknown.Load(),
		WallSteps: m.wallSteps.Load(), WallBacks: m.wallBacks.Load(), Snapshots: m.snapshots.Load(), Installs: g.guard.Installs(),
	}
}

// Collector exposes the counters and histograms to Prometheus.
func (g *Group) Collector() prometheus.Collector { return collector{g} }

type collector struct{ group *Group }

// counters are the Stats as Prometheus sees them.
var counters = []struct {
	desc  *prometheus.Desc
	value func(Stats) uint64
}{
	{describe("commits_total", "Commits proposed."), func(s Stats) uint64 { return s.Commits }},
	{describe("read_rounds_total", "Rounds of questions to the voters, for linearizable reads, that were answered."), func(s Stats) uint64 { return s.Rounds }},
	{describe("refused_total", "Commits and reads refused because too many waited."), func(s Stats) uint64 { return s.Refused }},
	{describe("unknown_total", "Log entries whose outcome was not learnt."), func(s Stats) uint64 { return s.Unknown }},
	{describe("wall_steps_total", "Log entries whose wall time was held back from a step of the system clock."), func(s Stats) uint64 { return s.WallSteps }},
	{describe("wall_backs_total", "Log entries proposed while the system clock was behind the log."), func(s Stats) uint64 { return s.WallBacks }},
	{describe("snapshots_total", "Snapshots that compaction asked for."), func(s Stats) uint64 { return s.Snapshots }},
	{describe("snapshot_installs_total", "Snapshots that this node received from a leader and installed."), func(s Stats) uint64 { return s.Installs }},
}

var (
	descLeads    = describe("leads", "1 where this node leads and is ready.")
	descLogBytes = describe("log_bytes", "Bytes of the entries in the log.")
	descReadOnly = describe("read_only", "1 while this node takes no writes because its disk is nearly full.")
	descDiskFree = describe("disk_free_bytes", "Bytes free under the data directory when it was last looked at.")
)

func describe(name, what string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName("dormouse", "cluster", name), what, nil, nil)
}

func (c collector) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, out) }

func (c collector) Collect(out chan<- prometheus.Metric) {
	g := c.group
	for _, h := range []prometheus.Histogram{g.metrics.commitsPerEntry, g.metrics.bytesPerEntry, g.metrics.cycle} {
		h.Collect(out)
	}
	stats := g.Stats()
	for _, k := range counters {
		out <- prometheus.MustNewConstMetric(k.desc, prometheus.CounterValue, float64(k.value(stats)))
	}
	gauge := func(desc *prometheus.Desc, value float64) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
	_, total := g.stores.LogBytes()
	gauge(descLeads, oneIf(g.IsLeader()))
	gauge(descLogBytes, float64(total))
	if disk := g.stores.Disk; disk != nil {
		gauge(descReadOnly, oneIf(disk.Low.Load()))
		gauge(descDiskFree, float64(disk.Left.Load()))
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
