package cluster

import (
	"github.com/prometheus/client_golang/prometheus"

	"dormouse/cluster/proposer"
)

// Stats counts what a group did since it was opened.
type Stats struct {
	proposer.Stats
	Snapshots uint64 // snapshots that compaction asked for
	Installs  uint64 // snapshots that this node received from a leader and installed

	Truncations uint64 // suffixes of this node's log that a leader's entries replaced
}

// Stats returns the group's counters.
func (g *Group) Stats() Stats {
	return Stats{Stats: g.metrics.Stats(), Snapshots: g.compactor.snapshots.Load(), Installs: g.guard.Installs(), Truncations: g.stores.Truncations()}
}

// LogCache returns the bytes of the newest entries that are kept in memory, and their bound.
func (g *Group) LogCache() (bytes, bytesMax int64) { return g.stores.CachedBytes() }

// Collector returns the counters and histograms for Prometheus.
func (g *Group) Collector() prometheus.Collector { return collector{g} }

type collector struct{ group *Group }

// counters are the Stats for Prometheus.
var counters = []struct {
	desc  *prometheus.Desc
	value func(Stats) uint64
}{
	{describe("commits_total", "Commits proposed."), func(s Stats) uint64 { return s.Commits }},
	{describe("read_rounds_total", "Successful read-index confirmation rounds."), func(s Stats) uint64 { return s.Rounds }},
	{describe("abandoned_total", "Commits that were not proposed because their callers gave up first."), func(s Stats) uint64 { return s.Abandoned }},
	{describe("refused_total", "Commits and reads refused because too many waited."), func(s Stats) uint64 { return s.Refused }},
	{describe("unknown_total", "Log entries with an unknown outcome."), func(s Stats) uint64 { return s.Unknown }},
	{describe("wall_steps_total", "Log entries whose wall time was held back from a step of the system clock."), func(s Stats) uint64 { return s.WallSteps }},
	{describe("wall_backs_total", "Log entries proposed while the system clock was behind the log."), func(s Stats) uint64 { return s.WallBacks }},
	{describe("snapshots_total", "Snapshots that compaction asked for."), func(s Stats) uint64 { return s.Snapshots }},
	{describe("snapshot_installs_total", "Snapshots that this node received from a leader and installed."), func(s Stats) uint64 { return s.Installs }},
	{describe("log_truncations_total", "Ends of this node's log that a leader's entries replaced."), func(s Stats) uint64 { return s.Truncations }},
}

var (
	descLeads    = describe("leads", "1 if this node leads and may propose.")
	descLogBytes = describe("log_bytes", "Bytes of the entries in the log.")
	descReadOnly = describe("read_only", "1 while this node accepts no writes because its disk is nearly full.")
	descDiskFree = describe("disk_free_bytes", "Bytes free under the data directory at the last check.")
)

func describe(name, what string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName("dormouse", "cluster", name), what, nil, nil)
}

func (c collector) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, out) }

func (c collector) Collect(out chan<- prometheus.Metric) {
	g := c.group
	for _, h := range g.metrics.Histograms {
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
