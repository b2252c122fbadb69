package assign

import (
	"sync"
	"time"

	"dormouse/agent/layout"
	"dormouse/placement"
)

const (
	// drainsMax bounds the partitions that drain at once: their instances stop
	// meanwhile, and start elsewhere.
	drainsMax = 128
	// keptFor is how long the leader does not drain a partition again after its
	// owner has refused to release it.
	keptFor = 30 * time.Second
)

// kept is the partitions that their owners have recently refused to release. Only
// the leader has it, and it ends with the leader's process: the next leader tries
// again.
type kept struct {
	mu    sync.Mutex
	since map[int]time.Time // by partition; guarded by mu
}

func (k *kept) note(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.since == nil {
		k.since = make(map[int]time.Time)
	}
	k.since[n] = time.Now()
}

func (k *kept) has(n int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	since, ok := k.since[n]
	if ok && time.Since(since) > keptFor {
		delete(k.since, n)
		return false
	}
	return ok
}

// none reports whether k is empty. Partitions whose time is over count until has
// has looked at them.
func (k *kept) none() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.since) == 0
}

// step is moves that share a reason.
type step struct {
	why   string
	moves []layout.PartitionMove
}

// plan returns the moves by which the nodes come to own the partitions that
// placement gives them.
func plan(table []*layout.Partition, nodes []placement.Node, kept func(n int) bool, target *target) []step {
	drains := 0
	for _, p := range table {
		if p.State == layout.PartitionDraining {
			drains++
		}
	}
	free := step{why: "the partition had no owner"}
	drain := step{why: "another node has less than its share"}
	stay := step{why: "its next owner is gone, or has enough"}
	for i, to := range target.of(ownersOf(table, nodes), nodes) {
		p := table[i]
		if to == p.Owner && p.State == layout.PartitionOwned {
			continue
		}
		move := layout.PartitionMove{Partition: p.ID, Epoch: p.Epoch, To: to}
		switch {
		case to == "":
		case p.State == layout.PartitionFree:
			move.Action = layout.PartitionAssign
			free.moves = append(free.moves, move)
		case to == p.Owner && p.State == layout.PartitionDraining:
			move.Action, move.To = layout.PartitionKeep, ""
			stay.moves = append(stay.moves, move)
		case to == p.Owner || to == p.To || kept(p.ID):
		case p.State == layout.PartitionDraining || drains < drainsMax:
			if p.State != layout.PartitionDraining {
				drains++
			}
			move.Action = layout.PartitionDrain
			drain.moves = append(drain.moves, move)
		}
	}
	var steps []step
	for _, s := range []step{free, stay, drain} {
		if len(s.moves) > 0 {
			steps = append(steps, s)
		}
	}
	return steps
}
