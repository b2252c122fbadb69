package host

import (
	"context"
	"slices"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/assign"
	"dormouse/cluster/peer"
	"dormouse/internal/pause"
)

// streamRetry is the delay before the host uses another node.
const streamRetry = 50 * time.Millisecond

// table is the owners of all partitions at an index, as nodes stream them. The
// index never decreases. Methods may be called concurrently.
type table struct {
	mu         sync.Mutex
	index      uint64 // the table includes all changes up to it
	wanted     uint64 // the highest index that a caller has waited for
	leader     string // the leader's address
	deposed    string // the address of the leader before it, if a request found the new one
	members    []layout.Member
	leases     []layout.NodeLease
	partitions [layout.Partitions]layout.Partition
	draining   layout.PartitionSet // the partitions that drain
	ownedNow   []layout.Partition  // the partitions that this host owns in the run ownedLife; nil if it must be computed
	ownedLife  string
	name       string        // of this host; never changes
	slow       time.Duration // see times; never changes
	changed    chan struct{} // closed and replaced when a partition or a lease changes
	progress   chan struct{} // closed and replaced when index or wanted grows
}

func newTable(name string, slow time.Duration) *table {
	t := &table{name: name, slow: slow, changed: make(chan struct{}), progress: make(chan struct{})}
	for n := range t.partitions {
		t.partitions[n] = layout.Partition{ID: n, State: layout.PartitionFree}
	}
	return t
}

// Partition implements instance.Ownership and router.Table.
func (t *table) Partition(n int) layout.Partition {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.partitions[n]
}

// PartitionsDraining implements instance.Ownership.
func (t *table) PartitionsDraining() []layout.Partition {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []layout.Partition
	for n := range t.draining.All() {
		all = append(all, t.partitions[n])
	}
	return all
}

// owned returns the partitions that this host owns in one run of its process.
// It computes them only after a change, because callers poll it. The caller
// must not change the slice.
func (t *table) owned(run string) []layout.Partition {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ownedNow == nil || t.ownedLife != run {
		t.ownedNow, t.ownedLife = []layout.Partition{}, run
		for n := range t.partitions {
			if p := &t.partitions[n]; p.Owner == t.name && p.Incarnation == run {
				t.ownedNow = append(t.ownedNow, *p)
			}
		}
	}
	return t.ownedNow
}

func (t *table) setLocked(p layout.Partition) {
	t.partitions[p.ID], t.ownedNow = p, nil
	if p.State == layout.PartitionDraining {
		t.draining.Add(p.ID)
	} else {
		t.draining.Remove(p.ID)
	}
}

// PartitionsChanged implements instance.Ownership and router.Table.
func (t *table) PartitionsChanged() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed
}

// Members implements router.Table. The caller must not change the slice.
func (t *table) Members() []layout.Member {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.members
}

// NodeLeases implements router.Leases. The caller must not change the slice.
func (t *table) NodeLeases() []layout.NodeLease {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leases
}

// WaitApplied waits until the table includes the index.
func (t *table) WaitApplied(ctx context.Context, index uint64) error {
	for {
		have, _, progress := t.want(index)
		if have >= index {
			return nil
		}
		select {
		case <-progress:
		case <-ctx.Done():
			return agent.Errorf(agent.CodeUnavailable, "no node has sent the partition table at index %d: %v", index, context.Cause(ctx))
		}
	}
}

// want records that a caller waits for index, and returns the table's index and
// the wanted one. progress is closed when either grows.
func (t *table) want(index uint64) (have, wanted uint64, progress <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if index > t.wanted {
		t.wanted = index
		t.notifyLocked()
	}
	return t.index, t.wanted, t.progress
}

func (t *table) notifyLocked() {
	close(t.progress)
	t.progress = make(chan struct{})
}

// update applies an update. The first one of a stream is at least at the
// table's index, because ask requests that.
func (t *table) update(u assign.TableUpdate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	changed := false
	for _, p := range u.Partitions {
		if t.partitions[p.ID] != p {
			t.setLocked(p)
			changed = true
		}
	}
	if !slices.EqualFunc(t.leases, u.Leases, func(a, b layout.NodeLease) bool { return a.Node == b.Node && a.Life == b.Life }) {
		changed = true
	}
	t.leader, t.members, t.leases = u.LeaderAddr, u.Members, u.Leases
	if changed || t.index == 0 {
		close(t.changed)
		t.changed = make(chan struct{})
	}
	if u.Index > t.index {
		t.index = u.Index
		t.notifyLocked()
	}
}

// setLeader records the address of a node that has answered as the leader.
func (t *table) setLeader(addr string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.leader != addr {
		t.leader, t.deposed = addr, t.leader
		t.notifyLocked()
	}
}

// isDeposed reports whether the node at an address led, and another one leads now.
func (t *table) isDeposed(addr string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leader != "" && addr == t.deposed && addr != t.leader
}

// nodes returns the addresses of nodes: the leader's, then those of other
// members, then those of join.
func (t *table) nodes(join []string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var addrs []string
	if t.leader != "" {
		addrs = append(addrs, t.leader)
	}
	for _, m := range t.members {
		if !m.Host && !slices.Contains(addrs, m.RaftAddr) {
			addrs = append(addrs, m.RaftAddr)
		}
	}
	for _, addr := range join {
		if !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	return addrs
}

// followTable keeps the table up to date, from one node after another, until
// ctx ends.
func (h *Host) followTable(ctx context.Context) error {
	for at := 0; ctx.Err() == nil; at++ {
		addrs := h.table.nodes(h.o.Join)
		addr := addrs[at%len(addrs)]
		err := h.followTableAt(ctx, addr)
		h.o.Logger.Debug("the stream of the partition table ended", "addr", addr, "error", err)
		if h.table.isDeposed(addr) {
			at = -1 // the next one is the leader
		}
		pause.For(ctx, streamRetry)
	}
	return nil
}

// followTableAt applies the updates of one node until its stream ends or is too
// slow.
func (h *Host) followTableAt(ctx context.Context, addr string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timeout := time.AfterFunc(h.table.slow, cancel)
	stream, err := h.pool.Table(ctx, addr)
	if !timeout.Stop() || err != nil {
		return err
	}
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		defer cancel()
		h.table.ask(ctx, stream, addr)
	}()
	for {
		u, err := stream.Next()
		if err != nil {
			cancel()
			<-asked
			return err
		}
		h.table.update(u)
	}
}

// ask requests the wanted indexes on the stream of the node at addr, first the
// table's own. It returns when the stream breaks, when a request makes no progress
// for the slow time, or when another node leads in place of that one, which may have
// fallen silent.
func (t *table) ask(ctx context.Context, stream *peer.TableStream, addr string) {
	have, _, _ := t.want(0)
	asked, last, since := max(have, 1), have, time.Now()
	if stream.Ask(asked) != nil {
		return
	}
	for ctx.Err() == nil {
		have, wanted, progress := t.want(0)
		if t.isDeposed(addr) {
			return
		}
		if have != last || have >= asked {
			last, since = have, time.Now()
		}
		if wanted > asked {
			if stream.Ask(wanted) != nil {
				return
			}
			asked = wanted
		}
		slow := time.NewTimer(t.slow - time.Since(since))
		if have >= asked {
			slow.Stop()
		}
		select {
		case <-progress:
		case <-slow.C:
			return
		case <-ctx.Done():
		}
		slow.Stop()
	}
}
