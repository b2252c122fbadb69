package node_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// nodeLease is the lease of the clusters' nodes, followed by the additional time until other nodes
// own all partitions of a lost one.
const (
	nodeLease  = 1500 * time.Millisecond
	rehomedMax = nodeLease + 3*time.Second
)

// partitions returns the table of partitions, as a node sees it, and how many each node owns: ""
// counts free ones, "*" draining ones. Tests call it often, so it is cached until it changes;
// callers must not change it.
func (r *testNode) partitions() (table []*layout.Partition, shares map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if moved := r.Machine().PartitionsChanged(); moved != r.moved {
		r.moved, r.table, r.shares, r.mine = moved, r.Machine().Partitions(), map[string]int{}, nil
		for _, p := range r.table {
			r.shares[p.Owner]++
			switch {
			case p.State == layout.PartitionDraining:
				r.shares["*"]++
			case p.Owner == r.name:
				r.mine = append(r.mine, p)
			}
		}
	}
	return r.table, r.shares
}

// own returns the partitions that a node owns, as it sees it, in any process, and does not drain.
func (r *testNode) own() []*layout.Partition {
	r.partitions()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mine
}

func shares(r *testNode) map[string]int {
	_, shares := r.partitions()
	return shares
}

// even waits until those nodes own all partitions, each within a tenth of its share.
func (w *simCluster) even(names ...string) {
	w.t.Helper()
	w.await("the partitions to be spread", func() bool {
		for _, r := range w.awake {
			got := shares(r)
			if got[""] != 0 || got["*"] != 0 || len(got) != len(names) {
				return false
			}
			fair := float64(layout.Partitions) / float64(len(names))
			for _, name := range names {
				if n := float64(got[name]); n > 1.1*fair+1 || n < 0.9*fair-1 {
					return false
				}
			}
		}
		return true
	})
}

// settled waits as even does, and then until no partition has changed for two lease times: when the
// shares are even, the last partitions may still be moving, and a node whose lease is new gets its
// last ones after the others. It returns the partitions.
func (w *simCluster) settled(names ...string) []*layout.Partition {
	w.t.Helper()
	w.even(names...)
	before := w.leader().Machine().Partitions()
	w.await("the partitions to rest", func() bool {
		last := before
		time.Sleep(2 * w.lease)
		before = w.leader().Machine().Partitions()
		return slices.Equal(before, last) // a partition that does not change stays the same pointer
	})
	return before
}

// believers checks that no two nodes believe at once that they own a partition, and that no epoch
// decreases; seen has the greatest of each.
func (w *simCluster) believers(seen []uint64) {
	w.t.Helper()
	owner := make([]string, layout.Partitions)
	for name, r := range w.awake {
		if !time.Now().Before(r.Group().Partitions().LeaseUntil()) {
			continue
		}
		life := r.Group().Process()
		for _, p := range r.own() { // it has stopped using draining ones already: it requests the release then
			if p.Incarnation != life {
				continue
			}
			if other := owner[p.ID]; other != "" {
				w.t.Fatalf("%s and %s both believe that partition %d is theirs", other, name, p.ID)
			}
			owner[p.ID] = name
			if p.Epoch < seen[p.ID] {
				w.t.Fatalf("%s believes in epoch %d of partition %d; it was at %d before", name, p.Epoch, p.ID, seen[p.ID])
			}
			seen[p.ID] = p.Epoch
		}
	}
}

// fencedPut writes with a partition's fence, through a node.
func fencedPut(ctx context.Context, r *testNode, p layout.Partition) error {
	_, err := r.Service().Commit(ctx, agent.Commit{Fence: p.Fence(), Ops: []agent.Op{&agent.PutValue{Key: "v", Bytes: []byte("x")}}})
	return err
}

// someOf returns a partition that a node owns, as another sees it.
func someOf(w *simCluster, owner string, seen *testNode) layout.Partition {
	w.t.Helper()
	for _, p := range seen.Machine().Partitions() {
		if p.Owner == owner {
			return *p
		}
	}
	w.t.Fatalf("%s owns nothing", owner)
	return layout.Partition{}
}

func TestALoneNodeOwnsAllPartitionsAtOnceSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 0)
		r := w.start("n1")
		for r.Ready() != nil {
			time.Sleep(time.Millisecond)
		}
		began := time.Now()
		for shares(r)["n1"] != layout.Partitions {
			if time.Since(began) > 100*time.Millisecond {
				t.Fatalf("after %v it owns %v", time.Since(began), shares(r))
			}
			time.Sleep(time.Millisecond)
		}
		t.Logf("it owns all of them %v after it was ready", time.Since(began))
	})
}

// CL-2, CL-4, CL-10.
func TestPartitionsFollowTheMembersSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		before := w.settled("n1", "n2", "n3")
		w.start("n4")
		for i, p := range w.settled("n1", "n2", "n3", "n4") {
			if p.Owner != before[i].Owner && p.Owner != "n4" {
				t.Fatalf("partition %d went from %s to %s when n4 joined", i, before[i].Owner, p.Owner)
			}
		}
		lost := "n4"
		if w.leader().name == lost {
			lost = "n3"
		}
		w.crash(lost)
		began := time.Now()
		w.even(without([]string{"n1", "n2", "n3", "n4"}, lost)...)
		if took := time.Since(began); took > rehomedMax {
			t.Errorf("what %s owned was another's only after %v", lost, took)
		}
		w.start(lost)
		w.even("n1", "n2", "n3", "n4")
		began = time.Now()
		w.sleep(lost) // in order: no node waits for a lease
		w.even(without([]string{"n1", "n2", "n3", "n4"}, lost)...)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("what %s left was another's only after %v", lost, took)
		}
		w.agree()
	})
}

func without(names []string, name string) []string {
	var out []string
	for _, n := range names {
		if n != name {
			out = append(out, n)
		}
	}
	return out
}

// CL-1, CL-5, CL-6: an owner that is cut off stops before another one begins, and its later writes
// with its epoch are refused.
func TestAnOwnerThatIsCutOffStopsBeforeTheNextBeginsSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		w.settled("n1", "n2", "n3")
		cut := w.awake[w.follower().name]
		theirs := someOf(w, cut.name, cut)
		seen := make([]uint64, layout.Partitions)
		w.isolate(cut.name)
		for began := time.Now(); time.Since(began) < rehomedMax; time.Sleep(100 * time.Millisecond) {
			w.believers(seen)
			held := shares(w.leader())[cut.name] == 0
			if held && time.Now().Before(cut.Group().Partitions().LeaseUntil()) {
				t.Fatal("its partitions were given away before it stopped")
			}
		}
		others := without([]string{"n1", "n2", "n3"}, cut.name)
		next := w.leader().Machine().Partition(theirs.ID)
		if next.Owner == cut.name || next.Epoch <= theirs.Epoch {
			t.Fatalf("%+v after %+v", next, theirs)
		}
		if err := fencedPut(t.Context(), w.awake[others[0]], theirs); agent.CodeOf(err) != agent.CodeFenced {
			t.Errorf("a write under the epoch that ended: %v", err)
		}
		if err := fencedPut(t.Context(), w.awake[others[0]], next); err != nil {
			t.Errorf("a write under the one that stands: %v", err)
		}
		if p := cut.Machine().Partition(theirs.ID); p.Owner != cut.name {
			t.Errorf("it has heard of what it could not: %+v", p)
		}
		w.heal()
		w.even("n1", "n2", "n3")
		w.believers(seen)
		if err := fencedPut(t.Context(), cut, theirs); agent.CodeOf(err) != agent.CodeFenced {
			t.Errorf("a write under the epoch that ended, through who had it: %v", err)
		}
	})
}

// CL-5: gossip reports each node in turn as dead, and to that node all others. No partition moves
// for that.
func TestGossipThatLiesMovesNothingSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		before := w.settled("n1", "n2", "n3")
		for i := range 3 { // each for the others, the leader too
			alone, others := []string{"127.0.1.1:7603", "127.0.1.2:7603", "127.0.1.3:7603"}[i], []string{}
			for _, addr := range []string{"127.0.1.1:7603", "127.0.1.2:7603", "127.0.1.3:7603"} {
				if addr != alone {
					others = append(others, addr)
				}
			}
			w.talk.Split([]string{alone}, others)
			time.Sleep(45 * time.Second)
			w.talk.Heal()
			time.Sleep(5 * time.Second)
		}
		for i, p := range w.leader().Machine().Partitions() {
			if *p != *before[i] {
				t.Fatalf("%+v, was %+v", *p, *before[i])
			}
		}
	})
}

// CL-1, CL-7: no partition has two owners at once, whichever nodes join and leave.
func TestNoPartitionHasTwoOwnersSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		seen := make([]uint64, layout.Partitions)
		watch := func(d time.Duration) {
			for began := time.Now(); time.Since(began) < d; time.Sleep(100 * time.Millisecond) {
				w.believers(seen)
			}
		}
		for range 8 {
			victim := name(rand.IntN(3)) // a seed would not make scheduling repeatable
			switch rand.IntN(4) {
			case 0:
				w.crash(victim)
				watch(time.Duration(rand.IntN(12)) * time.Second)
				w.start(victim)
			case 1:
				w.isolate(victim)
				watch(time.Duration(rand.IntN(12)) * time.Second)
				w.heal()
			case 2:
				w.sleep(victim)
				watch(time.Duration(rand.IntN(3)) * time.Second)
				w.start(victim)
			default:
				w.talk.Split([]string{"127.0.1." + victim[1:] + ":7603"}, []string{"127.0.1.9:7603"})
			}
			watch(time.Duration(rand.IntN(8)) * time.Second)
		}
		w.heal()
		w.even("n1", "n2", "n3")
		w.believers(seen)
		w.agree()
	})
}

func TestAnOperatorIsToldWhereAKeyLivesAndWhySim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		w.settled("n1", "n2", "n3")
		// A node whose lease is younger than its TTL gets no more partitions while another node
		// has an older one, so a forecast would leave it out.
		time.Sleep(w.lease)
		ask := func(q layout.PlacementQuery) layout.Placement {
			q.Manager, q.Key, q.Events = "chat", "user-1", 5
			p, err := w.awake["n2"].Operator().Placement(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		now := ask(layout.PlacementQuery{})
		if now.Partition == nil || now.Partition.ID != 682 || now.Partition.State != layout.PartitionOwned || now.Free != 0 ||
			len(now.Candidates) != 3 || len(now.Nodes) != 3 || now.Forecast != nil || len(now.Events) == 0 || now.Index == 0 {
			t.Fatalf("%+v", now)
		}
		owned := 0
		for _, n := range now.Nodes {
			owned += n.Owned
			if !n.Leased || n.Weight != 100 {
				t.Errorf("%+v", n)
			}
		}
		if owned != layout.Partitions {
			t.Errorf("%d partitions are owned", owned)
		}
		gone := ask(layout.PlacementQuery{Without: now.Partition.Owner}).Forecast
		if gone == nil || gone.Owner == now.Partition.Owner || gone.Moves < layout.Partitions/4 || gone.Moves > layout.Partitions/2 {
			t.Errorf("without its owner: %+v", gone)
		}
		if more := ask(layout.PlacementQuery{With: "n9"}).Forecast; more == nil || more.Moves != layout.Partitions/4 {
			t.Errorf("with one more: %+v", more)
		}
		if _, err := w.awake["n2"].Operator().Placement(t.Context(), layout.PlacementQuery{With: "a", Without: "b"}); agent.CodeOf(err) != agent.CodeInvalid {
			t.Errorf("with one and without another: %v", err)
		}
	})
}

// A forecast for a joining node comes true, though a node that gossip considers dead keeps its
// partitions until its lease ends.
func TestAForecastIsWhatTheLeaderDoesSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		w.settled("n1", "n2", "n3")
		dead := "n3"
		if w.leader().name == dead {
			dead = "n2"
		}
		var others []string
		for _, n := range without([]string{"n1", "n2", "n3", "n4"}, dead) {
			others = append(others, gossipOf(n))
		}
		w.talk.Split([]string{gossipOf(dead)}, others)
		time.Sleep(45 * time.Second)
		before := w.leader().Machine().Partitions()
		said, err := w.leader().Operator().Placement(t.Context(), layout.PlacementQuery{With: "n4"})
		if err != nil {
			t.Fatal(err)
		}
		w.start("n4")
		settled := 0 // consecutive checks
		w.await("n4 to have its share", func() bool {
			now := shares(w.leader())
			if settled++; now["n4"] == 0 || now["*"] != 0 {
				settled = 0
			}
			return settled == 200
		})
		moves := 0
		for i, p := range w.leader().Machine().Partitions() {
			if p.Owner != before[i].Owner {
				moves++
			}
		}
		if said.Forecast == nil || said.Forecast.Moves != moves {
			t.Errorf("%+v was supposed, and %d moved", said.Forecast, moves)
		}
	})
}

// gossipOf returns a node's gossip address.
func gossipOf(node string) string { return "127.0.1." + node[1:] + ":7603" }
