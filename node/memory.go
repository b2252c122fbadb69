package node

import (
	"hash/fnv"

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

// caches returns the bounds of the caches of a node's state machine.
func caches(p memory.Plan, node string) fsm.Caches {
	return fsm.Caches{Engine: p.Engine, MemTable: memTableOf(p.MemTable, node), ApplyRows: p.ApplyRows, ReadRows: p.ReadRows, Indexes: p.Indexes}
}

// memTableSteps is how many sizes of memtables there are.
const memTableSteps = 64

// memTableOf returns the size of a node's memtables: by its name, more than three quarters of the
// most and no more than that. All nodes apply the same entries, so with memtables of one size they
// would flush at the same time, and writes would wait for all of them.
func memTableOf(most uint64, node string) uint64 {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(node)) // never fails
	return most - most/4*uint64(sum.Sum32()%memTableSteps)/memTableSteps
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
