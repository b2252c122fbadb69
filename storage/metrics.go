package storage

// Metrics are an engine's gauges, and its counters since it was opened.
type Metrics struct {
	DiskBytes       uint64 // of all files
	MemTableBytes   uint64 // memory of commits that are not flushed yet: a memtable counts whole
	CacheBytes      int64  // of blocks
	CacheHits       int64
	CacheMisses     int64
	L0Sublevels     int32  // tables that a read may have to read one after the other; beyond l0StopAt commits wait
	CompactionDebt  uint64 // bytes to compact, as estimated by Pebble
	Compacting      int64  // running compactions
	Compactions     int64
	CompactionBytes uint64 // written by compactions
	Flushes         int64
	FlushBytes      uint64 // written by flushes
	Stalls          int64  // number of times that commits had to wait for flushes or compactions
}

// Metrics reads the engine's gauges.
func (e *Engine) Metrics() Metrics {
	m := e.db.Metrics()
	total := m.Total()
	return Metrics{
		DiskBytes:       m.DiskSpaceUsage(),
		MemTableBytes:   m.MemTable.Size,
		CacheBytes:      m.BlockCache.Size,
		CacheHits:       m.BlockCache.Hits,
		CacheMisses:     m.BlockCache.Misses,
		L0Sublevels:     m.Levels[0].Sublevels,
		CompactionDebt:  m.Compact.EstimatedDebt,
		Compacting:      m.Compact.NumInProgress,
		Compactions:     m.Compact.Count,
		CompactionBytes: total.TableBytesCompacted,
		Flushes:         m.Flush.Count,
		FlushBytes:      m.Levels[0].TableBytesFlushed,
		Stalls:          e.stalls.Load(),
	}
}
