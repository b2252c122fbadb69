package txn

import "sync/atomic"

// Counters count what a machine met while it applied entries, since it was opened. Replicas that
// apply the same entries count the same. Only the applying goroutine adds to them.
type Counters struct {
	Answered     atomic.Uint64 // commits that were answered from the dedup table
	SharedFences atomic.Uint64 // fences of commits that shared their entry with others
	LeasesEnded  atomic.Uint64 // node leases that expired
	Drained      atomic.Uint64 // partitions that moved to another node after they were drained
}
