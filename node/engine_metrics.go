package node

import (
	"github.com/prometheus/client_golang/prometheus"

	"dormouse/fsm"
	"dormouse/storage"
)

// engineMetric is one metric of the storage engine.
type engineMetric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(storage.Metrics) float64
}

func engineDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName("dormouse", "engine", name), help, nil, nil)
}

func engineGauge[T int32 | int64 | uint64](name, help string, value func(storage.Metrics) T) engineMetric {
	return engineMetric{engineDesc(name, help), prometheus.GaugeValue, func(m storage.Metrics) float64 { return float64(value(m)) }}
}

func engineCounter[T int64 | uint64](name, help string, value func(storage.Metrics) T) engineMetric {
	return engineMetric{engineDesc(name, help), prometheus.CounterValue, func(m storage.Metrics) float64 { return float64(value(m)) }}
}

var engineMetrics = []engineMetric{
	engineGauge("disk_bytes", "All files of the storage engine.", func(m storage.Metrics) uint64 { return m.DiskBytes }),
	engineGauge("memtable_bytes", "Memory of what was applied and is not flushed yet.", func(m storage.Metrics) uint64 { return m.MemTableBytes }),
	engineGauge("cache_bytes", "Blocks of tables in memory.", func(m storage.Metrics) int64 { return m.CacheBytes }),
	engineGauge("l0_sublevels", "Tables that a read may have to look at one after the other.", func(m storage.Metrics) int32 { return m.L0Sublevels }),
	engineGauge("compaction_debt_bytes", "What waits to be compacted, by estimate.", func(m storage.Metrics) uint64 { return m.CompactionDebt }),
	engineGauge("compacting", "Compactions under way.", func(m storage.Metrics) int64 { return m.Compacting }),
	engineCounter("cache_hits_total", "Blocks that were found in memory.", func(m storage.Metrics) int64 { return m.CacheHits }),
	engineCounter("cache_misses_total", "Blocks that were read from disk.", func(m storage.Metrics) int64 { return m.CacheMisses }),
	engineCounter("flushes_total", "Flushes of what was in memory.", func(m storage.Metrics) int64 { return m.Flushes }),
	engineCounter("flush_bytes_total", "Bytes that flushes wrote.", func(m storage.Metrics) uint64 { return m.FlushBytes }),
	engineCounter("compactions_total", "Compactions.", func(m storage.Metrics) int64 { return m.Compactions }),
	engineCounter("compaction_bytes_total", "Bytes that compactions wrote.", func(m storage.Metrics) uint64 { return m.CompactionBytes }),
	engineCounter("stalls_total", "Times that entries waited to be applied until flushes or compactions kept up.",
		func(m storage.Metrics) int64 { return m.Stalls }),
}

// engineCollector collects the storage engine's metrics, all from one snapshot.
type engineCollector struct{ machine *fsm.Machine }

// Describe implements prometheus.Collector.
func (engineCollector) Describe(out chan<- *prometheus.Desc) {
	for _, m := range engineMetrics {
		out <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c engineCollector) Collect(out chan<- prometheus.Metric) {
	now, ok := c.machine.Engine()
	if !ok {
		return
	}
	for _, m := range engineMetrics {
		out <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(now))
	}
}
