package instance

import "dormouse/agent"

// Walk returns the counts of all instances, and the counters that must equal
// them.
func (h *Host) Walk() (walked, counted agent.NodeStats) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := counters{
		signals: h.table.counters.signals, wakes: h.table.counters.wakes, hibernated: h.table.counters.hibernated, failed: h.table.counters.failed, crashed: h.table.counters.crashed,
	}
	for _, f := range h.table.managers {
		for _, i := range f.instances {
			t.add(i.currentStatus(), 1)
		}
	}
	return t.stats(h.o.Node), h.table.counters.stats(h.o.Node)
}

// CachedManagers returns the number of managers in memory.
func (h *Host) CachedManagers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.table.managers)
}

// Limits of a host's watches.
const (
	WatchersMax      = watchersMax
	WatcherEventsMax = watcherEventsMax
)
