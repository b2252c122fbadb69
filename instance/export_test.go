package instance

import "dormouse/agent"

// Walk returns the counts of all instances, and the counters that must equal
// them.
func (h *Host) Walk() (walked, counted agent.NodeStats) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := counters{
		signals: h.counters.signals, wakes: h.counters.wakes, hibernated: h.counters.hibernated, failed: h.counters.failed, crashed: h.counters.crashed,
	}
	for _, f := range h.managers {
		for _, i := range f.instances {
			t.add(i.currentStatus(), 1)
		}
	}
	return t.stats(h.o.Node), h.counters.stats(h.o.Node)
}

// Families returns the number of managers in memory.
func (h *Host) Families() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.managers)
}

// Limits of a host's watches.
const (
	WatchersMax = watchersMax
	TidingsMax  = watcherEventsMax
)
