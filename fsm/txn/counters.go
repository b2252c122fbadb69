package txn

import "sync/atomic"

// Counters count what a machine met while it decided and applied entries, since it was opened. Only
// the goroutine that applies adds to them.
type Counters struct {
	Answered     atomic.Uint64 // commits that were answered from the dedup table, where this replica decided
	SharedFences atomic.Uint64 // fences of commits that shared their entry with others, where this replica decided
	LeasesEnded  atomic.Uint64 // node leases that expired
	Drained      atomic.Uint64 // partitions that moved to another node after they were drained
	Displaced    atomic.Uint64 // entries whose commits were refused, since they were decided for another place in the log
}

// EntryCounters is what one entry adds to Counters once it is applied. An entry may be decided twice, or
// dropped: see Machine.Pack.
type EntryCounters struct{ Answered, SharedFences, LeasesEnded, Drained uint64 }

// Add adds what an applied entry counts.
func (c *Counters) Add(n EntryCounters) {
	c.Answered.Add(n.Answered)
	c.SharedFences.Add(n.SharedFences)
	c.LeasesEnded.Add(n.LeasesEnded)
	c.Drained.Add(n.Drained)
}
