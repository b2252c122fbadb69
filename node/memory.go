package node

import (
	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"

	"dormouse/config"
	"dormouse/fsm"
	"dormouse/internal/memory"
)

// MemoryPlan returns how a node with this configuration divides its memory.
func MemoryPlan(c config.Config) memory.Plan {
	return memory.Divide(memory.Find(c.Storage.MemoryBytes()), c.Storage.CacheBytes)
}

// caches returns the bounds of the state machine's caches.
func caches(p memory.Plan) fsm.Caches {
	return fsm.Caches{Engine: p.Engine, MemTable: p.MemTable, ApplyRows: p.ApplyRows, ReadRows: p.ReadRows, Indexes: p.Indexes}
}

// logMemory logs the plan, for operators.
func logMemory(p memory.Plan, log hclog.Logger) {
	log.Info("memory", "budget", p.String(), "engine", p.Engine, "apply_rows", p.ApplyRows, "read_rows", p.ReadRows,
		"entries", p.Entries, "indexes", p.Indexes)
}

// cacheCollector collects the sizes of the caches, and their bounds.
type cacheCollector struct{ node *Node }

var (
	descCacheBytes = prometheus.NewDesc("dormouse_cache_bytes", "Bytes in a cache.", []string{"cache"}, nil)
	descCacheMax   = prometheus.NewDesc("dormouse_cache_limit_bytes", "Most bytes of a cache: storage.memory sets them.", []string{"cache"}, nil)
)

// Describe implements prometheus.Collector.
func (cacheCollector) Describe(out chan<- *prometheus.Desc) {
	out <- descCacheBytes
	out <- descCacheMax
}

// Collect implements prometheus.Collector.
func (c cacheCollector) Collect(out chan<- prometheus.Metric) {
	now, limits, ok := fsm.CachesOf(c.node.machine)
	if !ok {
		return
	}
	entries, entriesMax := c.node.group.LogCache()
	for _, cache := range []struct {
		name       string
		bytes, max int64
	}{
		{"engine", now.Engine, limits.Engine},
		{"apply_rows", now.ApplyRows, limits.ApplyRows},
		{"read_rows", now.ReadRows, limits.ReadRows},
		{"memory_indexes", now.Indexes, limits.Indexes},
		{"log_entries", entries, entriesMax},
	} {
		out <- prometheus.MustNewConstMetric(descCacheBytes, prometheus.GaugeValue, float64(cache.bytes), cache.name)
		out <- prometheus.MustNewConstMetric(descCacheMax, prometheus.GaugeValue, float64(cache.max), cache.name)
	}
}
