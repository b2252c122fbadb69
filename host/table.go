package host

import (
	"context"
	"slices"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/cluster"
	"dormouse/cluster/peer"
	"dormouse/internal/pause"
)

const (
	// slowMax is how long a node may take to answer with the table as of an
	// index before another is asked.
	slowMax = time.Second
	// streamRetry is the pause before another node is asked.
	streamRetry = 50 * time.Millisecond
)

// table is who owns what, as nodes tell it: as of an index, or later. It never
// goes back. Its methods may be called concurrently.
type table struct {
	mu         sync.Mutex
	index      uint64 // what is here is as of it, or later
	wanted     uint64 // somebody waits for it; may be below index
	leader     string // its address
	members    []agent.Member
	leases     []agent.NodeLease
	partitions [agent.Partitions]agent.Partition
	draining   agent.PartitionSet // of partitions, those that drain
	own        []agent.Partition  // what this host owns in ownLife; nil until it is asked for again
	ownLife    string
	name       string        // of this host; never changes
	moved      chan struct{} // closed and replaced when a partition or a lease changes
	news       chan struct{} // closed and replaced when index or wanted grows
}

func newTable(name string) *table {
	t := &table{name: name, moved: make(chan struct{}), news: make(chan struct{})}
	for n := range t.partitions {
		t.partitions[n] = agent.Partition{ID: n, State: agent.PartitionFree}
	}
	return t
}

// Partition implements instance.Ground and router.Table.
func (t *table) Partition(n int) agent.Partition {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.partitions[n]
}

// PartitionsDraining implements instance.Ground.
func (t *table) PartitionsDraining() []agent.Partition {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []agent.Partition
	for n := range t.draining.All() {
		all = append(all, t.partitions[n])
	}
	return all
}

// owned are the partitions that this host owns in a life of its. They are put
// together where any has changed since: who waits for them asks all the time.
// The caller must not change the slice.
func (t *table) owned(life string) []agent.Partition {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.own == nil || t.ownLife != life {
		t.own, t.ownLife = []agent.Partition{}, life
		for n := range t.partitions {
			if p := &t.partitions[n]; p.Owner == t.name && p.Incarnation == life {
				t.own = append(t.own, *p)
			}
		}
	}
	return t.own
}

func (t *table) setLocked(p agent.Partition) {
	t.partitions[p.ID], t.own = p, nil
	if p.State == agent.PartitionDraining {
		t.draining.Add(p.ID)
	} else {
		t.draining.Remove(p.ID)
	}
}

// PartitionsChanged implements instance.Ground and router.Table.
func (t *table) PartitionsChanged() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.moved
}

// Members implements router.Table. The caller must not change the slice.
func (t *table) Members() []agent.Member {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.members
}

// NodeLeases implements router.Leases. The caller must not change the slice.
func (t *table) NodeLeases() []agent.NodeLease {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leases
}

// WaitApplied waits until the table is as of index.
func (t *table) WaitApplied(ctx context.Context, index uint64) error {
	for {
		have, _, news := t.want(index)
		if have >= index {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return agent.Errorf(agent.CodeUnavailable, "no node has told who owns what as of index %d: %v", index, context.Cause(ctx))
		}
	}
}

// want notes that somebody waits for index, and tells what is here and what
// is waited for. news is closed when either grows.
func (t *table) want(index uint64) (have, wanted uint64, news <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if index > t.wanted {
		t.wanted = index
		t.tellLocked()
	}
	return t.index, t.wanted, t.news
}

func (t *table) tellLocked() {
	close(t.news)
	t.news = make(chan struct{})
}

// take takes an update in. The first one of a stream was asked to be no older
// than what is here.
func (t *table) take(u cluster.TableUpdate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	changed := false
	for _, p := range u.Partitions {
		if t.partitions[p.ID] != p {
			t.setLocked(p)
			changed = true
		}
	}
	if !slices.EqualFunc(t.leases, u.Leases, func(a, b agent.NodeLease) bool { return a.Node == b.Node && a.Life == b.Life }) {
		changed = true
	}
	t.leader, t.members, t.leases = u.LeaderAddr, u.Members, u.Leases
	if changed || t.index == 0 {
		close(t.moved)
		t.moved = make(chan struct{})
	}
	if u.Index > t.index {
		t.index = u.Index
		t.tellLocked()
	}
}

// nodes are the addresses of nodes, the leader's first; what is learned comes
// before what was said at the start.
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

// follow keeps the table up to date, by one node after another, until ctx ends.
func (h *Host) follow(ctx context.Context) error {
	for at := 0; ctx.Err() == nil; at++ {
		addrs := h.table.nodes(h.o.Join)
		addr := addrs[at%len(addrs)]
		err := h.followAt(ctx, addr)
		h.o.Logger.Debug("a node tells no more of who owns what", "addr", addr, "error", err)
		pause.For(ctx, streamRetry)
	}
	return nil
}

// followAt takes in what one node tells, until it breaks off or is slow.
func (h *Host) followAt(ctx context.Context, addr string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	impatient := time.AfterFunc(slowMax, cancel)
	stream, err := h.pool.Table(ctx, addr)
	if !impatient.Stop() || err != nil {
		return err
	}
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		defer cancel()
		h.table.ask(ctx, stream)
	}()
	for {
		u, err := stream.Next()
		if err != nil {
			cancel()
			<-asked
			return err
		}
		h.table.take(u)
	}
}

// ask asks for what is waited for, first of all for what is here already, until
// the stream breaks or nothing comes of it for slowMax.
func (t *table) ask(ctx context.Context, stream *peer.TableStream) {
	have, _, _ := t.want(0)
	asked, last, since := max(have, 1), have, time.Now()
	if stream.Ask(asked) != nil {
		return
	}
	for ctx.Err() == nil {
		have, wanted, news := t.want(0)
		if have != last || have >= asked {
			last, since = have, time.Now()
		}
		if wanted > asked {
			if stream.Ask(wanted) != nil {
				return
			}
			asked = wanted
		}
		slow := time.NewTimer(slowMax - time.Since(since))
		if have >= asked {
			slow.Stop()
		}
		select {
		case <-news:
		case <-slow.C:
			return
		case <-ctx.Done():
		}
		slow.Stop()
	}
}
