package instance

import "dormouse/agent"

// Walk counts the instances one by one, as the tally of all is to be.
func (h *Host) Walk() (walked, counted agent.NodeStats) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := tally{
		signals: h.tally.signals, wakes: h.tally.wakes, hibernated: h.tally.hibernated, failed: h.tally.failed, crashed: h.tally.crashed,
	}
	for _, f := range h.families {
		for _, i := range f.instances {
			t.add(i.shown(), 1)
		}
	}
	return t.stats(h.o.Node), h.tally.stats(h.o.Node)
}

// Families is how many managers the host knows.
func (h *Host) Families() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.families)
}

// Bounds of a host's watches.
const (
	WatchersMax = watchersMax
	TidingsMax  = tidingsMax
)
