package assign

import (
	"slices"
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

// rules are what operators say about the placement.
type rules struct {
	drained []layout.DrainedNode
	pins    []layout.Pin
}

// planner makes one plan.
type planner struct {
	drained map[string]bool // by node
	pins    map[int]string  // by partition
	kept    func(n int) bool
	drains  int // partitions that drain
	free    []step
	stay    []step
	drain   []step
}

// plan returns the moves by which the nodes come to own the partitions that
// placement gives them.
func plan(table []*layout.Partition, nodes []placement.Node, rules rules, kept func(n int) bool, target *target) []step {
	p := planner{drained: map[string]bool{}, pins: byPartition(rules.pins), kept: kept}
	for _, d := range rules.drained {
		p.drained[d.Node] = true
	}
	for _, row := range table {
		if row.State == layout.PartitionDraining {
			p.drains++
		}
	}
	for i, to := range target.of(ownersOf(table, nodes), nodes, rules.pins) {
		if row := table[i]; to != "" && (to != row.Owner || row.State != layout.PartitionOwned) {
			p.move(row, to)
		}
	}
	return slices.Concat(p.free, p.stay, p.drain)
}

// move adds the move of a partition to a node, unless it must wait.
func (p *planner) move(row *layout.Partition, to string) {
	move := layout.PartitionMove{Partition: row.ID, Epoch: row.Epoch, To: to}
	switch {
	case row.State == layout.PartitionFree:
		move.Action = layout.PartitionAssign
		add(&p.free, p.why(row, to, "the partition had no owner"), move)
	case to == row.Owner && row.State == layout.PartitionDraining:
		move.Action, move.To = layout.PartitionKeep, ""
		add(&p.stay, p.why(row, to, "its next owner is gone, or has enough"), move)
	case to == row.To || p.kept(row.ID):
	case row.State == layout.PartitionDraining || p.drains < drainsMax:
		if row.State != layout.PartitionDraining {
			p.drains++
		}
		move.Action = layout.PartitionDrain
		add(&p.drain, p.why(row, to, "another node has less than its share"), move)
	}
}

// why returns the reason of a move: the rule that causes it, or usual.
func (p *planner) why(row *layout.Partition, to, usual string) string {
	switch {
	case p.pins[row.ID] == to:
		return "the partition is pinned to node " + to
	case p.drained[row.Owner]:
		return "node " + row.Owner + " is drained"
	case p.drained[row.To]:
		return "node " + row.To + " is drained"
	default:
		return usual
	}
}

// add adds a move to the step that has its reason.
func add(steps *[]step, why string, move layout.PartitionMove) {
	at := slices.IndexFunc(*steps, func(s step) bool { return s.why == why })
	if at < 0 {
		at = len(*steps)
		*steps = append(*steps, step{why: why})
	}
	(*steps)[at].moves = append((*steps)[at].moves, move)
}
