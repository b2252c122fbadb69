package fsm_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm"
	"dormouse/fsm/kv"
	"dormouse/placement"
	"dormouse/storage"
)

const leaseTTL = 5 * time.Second

// clusterOps applies commits about members, leases and partitions, as a leader does.
type clusterOps struct{ *subject }

// newOwners returns a machine with members n1 to n3, each with a lease.
func newOwners(tb testing.TB) clusterOps {
	tb.Helper()
	r := clusterOps{newSubject(tb)}
	for i := 1; i <= 3; i++ {
		r.join(fmt.Sprint("n", i))
		if err := r.renew(fmt.Sprint("n", i), "life-1"); err != nil {
			tb.Fatal(err)
		}
	}
	return r
}

func (r clusterOps) say(commit []byte) *agent.Error { return r.feed([][]byte{commit})[0].Err }

func (r clusterOps) join(node string) {
	r.tb.Helper()
	if err := r.say(r.machine.EncodePutMember(layout.Member{ID: node, Incarnation: "data-" + node, RaftAddr: node})); err != nil {
		r.tb.Fatal(err)
	}
}

func (r clusterOps) renew(node, life string) *agent.Error {
	return r.say(r.machine.EncodeRenewNodeLease(layout.NodeLease{Node: node, Incarnation: "data-" + node, Life: life, TTL: leaseTTL}, nil))
}

func (r clusterOps) move(n int, action layout.PartitionAction, to string) *agent.Error {
	return r.say(r.machine.EncodeMovePartitions([]layout.PartitionMove{{
		Partition: n, Epoch: r.machine.Partition(n).Epoch, Action: action, To: to,
	}}, "because"))
}

// must makes a move that is allowed, and returns the new state of the partition.
func (r clusterOps) must(n int, action layout.PartitionAction, to string) layout.Partition {
	r.tb.Helper()
	if err := r.move(n, action, to); err != nil {
		r.tb.Fatalf("%s partition %d: %v", action, n, err)
	}
	return r.machine.Partition(n)
}

// fencedWrite writes with a partition's epoch.
func (r clusterOps) fencedWrite(n int, epoch uint64) *agent.Error {
	return r.batch(agent.Commit{
		Fence: &agent.Fence{Claim: layout.PartitionClaim(n), Epoch: epoch},
		Ops:   []agent.Op{&agent.PutValue{Key: "v", Bytes: []byte("x")}},
	})[0].Err
}

func (r clusterOps) wantFenced(n int, epoch uint64, holder string) {
	r.tb.Helper()
	if err := r.fencedWrite(n, epoch); err == nil || err.Code != agent.CodeFenced || err.Holder != holder {
		r.tb.Fatalf("a write under epoch %d of partition %d: %v, want fenced by %q", epoch, n, err, holder)
	}
}

func TestThePartitionsAreWhatPlacementMakesThem(t *testing.T) {
	if layout.Partitions != placement.Partitions {
		t.Fatal(placement.Partitions)
	}
}

// CL-1, CL-3, CL-10: a partition moves between owners, each with an epoch of its own.
func TestAPartitionIsDrainedAndReleasedToTheNextOwner(t *testing.T) {
	r := newOwners(t)
	if p := r.machine.Partition(7); p.State != layout.PartitionFree || p.Fence() != nil || p.ID != 7 {
		t.Fatalf("at first: %+v", p)
	}
	changed := r.machine.PartitionsChanged()
	owned := r.must(7, layout.PartitionAssign, "n1")
	if owned.Owner != "n1" || owned.Incarnation != "life-1" || owned.State != layout.PartitionOwned || owned.Epoch == 0 || owned.Why != "because" ||
		owned.SinceIndex != r.index || owned.Since != r.wall {
		t.Fatalf("%+v", owned)
	}
	select {
	case <-changed:
	default:
		t.Error("those that wait for a change were not woken")
	}
	if err := r.fencedWrite(7, owned.Epoch); err != nil {
		t.Fatal(err)
	}
	r.wantFenced(7, owned.Epoch+1, "n1")
	r.wantFenced(8, owned.Epoch, "")
	draining := r.must(7, layout.PartitionDrain, "n2")
	if draining.Owner != "n1" || draining.To != "n2" || draining.Epoch != owned.Epoch {
		t.Fatalf("%+v", draining)
	}
	if err := r.fencedWrite(7, owned.Epoch); err != nil { // the owner hibernates its instances
		t.Fatal(err)
	}
	if kept := r.must(7, layout.PartitionKeep, ""); kept.State != layout.PartitionOwned || kept.To != "" || kept.Epoch != owned.Epoch {
		t.Fatalf("%+v", kept)
	}
	r.must(7, layout.PartitionDrain, "n2")
	next := r.must(7, layout.PartitionRelease, "")
	if next.Owner != "n2" || next.State != layout.PartitionOwned || next.Epoch <= owned.Epoch {
		t.Fatalf("%+v", next)
	}
	r.wantFenced(7, owned.Epoch, "n2")
	if free := r.must(7, layout.PartitionRelease, ""); free.State != layout.PartitionFree || free.Epoch != 0 {
		t.Fatalf("%+v", free)
	}
	events, err := r.machine.PlacementEvents(10)
	if err != nil {
		t.Fatal(err)
	}
	var trail []layout.PlacementEventKind
	for _, e := range events {
		trail = append(trail, e.Kind)
		if !slices.Equal(e.Partitions, []int{7}) || e.Why != "because" || e.Index == 0 || e.Time == 0 {
			t.Errorf("%+v", e)
		}
	}
	want := []layout.PlacementEventKind{
		layout.EventReleased, layout.EventMoved, layout.EventDraining, layout.EventKept, layout.EventDraining, layout.EventAssigned,
	}
	if !slices.Equal(trail, want) {
		t.Errorf("the trail is %v", trail)
	}
}

func TestAMoveThatIsNotAsExpectedIsRefusedWhole(t *testing.T) {
	r := newOwners(t)
	owned := r.must(1, layout.PartitionAssign, "n1")
	for name, move := range map[string]layout.PartitionMove{
		"another epoch":           {Partition: 1, Epoch: owned.Epoch - 1, Action: layout.PartitionRelease},
		"what is owned":           {Partition: 1, Epoch: owned.Epoch, Action: layout.PartitionAssign, To: "n2"},
		"to its owner":            {Partition: 1, Epoch: owned.Epoch, Action: layout.PartitionDrain, To: "n1"},
		"for nobody with a lease": {Partition: 1, Epoch: owned.Epoch, Action: layout.PartitionDrain, To: "n9"},
		"what does not drain":     {Partition: 1, Epoch: owned.Epoch, Action: layout.PartitionKeep},
		"what is free":            {Partition: 2, Action: layout.PartitionRelease},
		"drain what is free":      {Partition: 2, Action: layout.PartitionDrain, To: "n2"},
		"to nobody with a lease":  {Partition: 2, Action: layout.PartitionAssign, To: "n9"},
		"no action":               {Partition: 2},
		"no partition":            {Partition: layout.Partitions, Action: layout.PartitionAssign, To: "n1"},
	} {
		fine := layout.PartitionMove{Partition: 3, Action: layout.PartitionAssign, To: "n3"}
		err := r.say(r.machine.EncodeMovePartitions([]layout.PartitionMove{fine, move}, ""))
		if err == nil || err.Code != agent.CodeConflict && err.Code != agent.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
		if p := r.machine.Partition(3); p.State != layout.PartitionFree {
			t.Fatalf("%s: half of it was done: %+v", name, p)
		}
	}
	for name, commit := range map[string][]byte{
		"too many": r.machine.EncodeMovePartitions(make([]layout.PartitionMove, layout.Partitions+1), ""),
		"too long": r.machine.EncodeMovePartitions(nil, string(make([]byte, layout.PlacementWhyBytesMax+1))),
	} {
		if err := r.say(commit); err == nil || err.Code != agent.CodeTooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
	if events, err := r.machine.PlacementEvents(10); err != nil || len(events) != 1 {
		t.Errorf("the trail tells of what was refused: %+v, %v", events, err)
	}
}

func TestTheTrailKeepsTheNewest(t *testing.T) {
	r := newOwners(t)
	for range layout.PlacementEventsMax/2 + 5 {
		r.must(1, layout.PartitionAssign, "n1")
		r.must(1, layout.PartitionRelease, "")
	}
	events, err := r.machine.PlacementEvents(2 * layout.PlacementEventsMax)
	if err != nil || len(events) != layout.PlacementEventsMax || events[0].Index != r.index || events[0].Kind != layout.EventReleased {
		t.Errorf("%d events: %v", len(events), err)
	}
	if rows := r.rows(kv.KindPlacementEvent); rows != layout.PlacementEventsMax {
		t.Errorf("%d rows", rows)
	}
}

func TestWhoOwnsWhatOutlivesARestartAndASnapshot(t *testing.T) {
	r := newOwners(t)
	r.must(1, layout.PartitionAssign, "n1")
	r.must(2, layout.PartitionAssign, "n2")
	r.must(2, layout.PartitionDrain, "n3")
	r.must(3, layout.PartitionAssign, "n2")
	r.must(3, layout.PartitionRelease, "")
	if err := r.host(hosted("h1", "a@1", "b@0"), hostRow("h1")); err != nil {
		t.Fatal(err)
	}
	r.must(4, layout.PartitionAssign, "h1")
	r.raise(layout.RulesLevel)
	r.rule(r.machine.EncodeDrainNode("n2", true))
	r.rule(r.machine.EncodePinPartition(layout.Partitions-1, "h1"))
	r.rule(r.machine.EncodePinPartition(0, "n3"))
	replayed := newSubject(t)
	for _, entry := range r.log {
		replayed.replay(entry)
	}
	fs := storage.MemFS()
	kept := openSubject(t, fsm.Options{Dir: "state", FS: fs})
	for _, entry := range r.log {
		kept.replay(entry)
	}
	snapshot, err := kept.machine.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Release()
	kept.close()
	reopened := openSubject(t, fsm.Options{Dir: "state", FS: fs})
	for _, other := range []*subject{replayed, reopened} {
		if reopened == other && other.machine.Applied() < r.index { // replays what was not flushed
			for _, entry := range r.log[other.machine.Applied():] {
				other.replay(entry)
			}
		}
		if !slices.EqualFunc(other.machine.Partitions(), r.machine.Partitions(), func(a, b *layout.Partition) bool { return *a == *b }) || !slices.Equal(other.machine.Members(), r.machine.Members()) ||
			!reflect.DeepEqual(other.machine.NodeLeases(), r.machine.NodeLeases()) ||
			len(other.machine.Pins()) != 2 || !slices.Equal(other.machine.Pins(), r.machine.Pins()) || len(other.machine.DrainedNodes()) != 1 ||
			!slices.Equal(other.machine.DrainedNodes(), r.machine.DrainedNodes()) {
			t.Fatal("who owns what is not the same")
		}
		if other.hash() != r.hash() {
			t.Fatal("the rows are not the same")
		}
	}
	due, _ := reopened.machine.Due()
	if want, _ := r.machine.Due(); due != want {
		t.Errorf("due at %d, want %d", due, want)
	}
}

func TestADamagedPartitionRowStopsTheStart(t *testing.T) {
	if _, err := fsm.DecodePartition("xyz", nil); err == nil {
		t.Error("a key of three bytes")
	}
	if _, err := fsm.DecodePartition("\xff\xff", nil); err == nil {
		t.Error("partition 65535")
	}
	if _, err := fsm.DecodePartition("\x00\x01", []byte{0xff}); err == nil {
		t.Error("a row that is no row")
	}
}

func FuzzPlacementOps(f *testing.F) {
	r := newOwners(f)
	f.Add(r.machine.EncodeRenewNodeLease(layout.NodeLease{Node: "n1", Incarnation: "data-n1", Life: "life-2", TTL: leaseTTL}, nil), r.machine.EncodeEndNodeLease("n1", "life-2"))
	f.Add(r.machine.EncodeRenewNodeLease(hosted("h1", "x@1"), hostRow("h1")), r.machine.EncodeRemoveMember("h1", "data-h1"))
	f.Add(r.machine.EncodeMovePartitions([]layout.PartitionMove{
		{Partition: 1, Action: layout.PartitionAssign, To: "n1"}, {Partition: 2, Action: layout.PartitionAssign, To: "n2"},
	}, "why"), r.machine.EncodeMovePartitions([]layout.PartitionMove{{Partition: 1, Action: layout.PartitionRelease}}, ""))
	f.Add(r.machine.EncodeDrainNode("n1", true), r.machine.EncodePinPartition(1, "n1"))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		var stopped bool
		r := clusterOps{openSubject(t, fsm.Options{Dir: "state", FS: storage.MemFS(), Fatal: func(error) { stopped = true }})}
		defer r.close()
		for i, commits := range [][][]byte{
			{r.machine.EncodePutMember(layout.Member{ID: "n1", Incarnation: "data-n1", RaftAddr: "a"}), r.machine.EncodeRenewNodeLease(layout.NodeLease{Node: "n1", Incarnation: "data-n1", Life: "life-1", TTL: leaseTTL}, nil)},
			{one},
			{two},
			{one, two},
		} {
			entry := r.machine.Pack(0, 0, uint64(i)*3000, int64(i)*3000, commits)
			r.machine.Apply(&raft.Log{Type: raft.LogCommand, Index: uint64(i) + 1, Term: 1, Data: entry})
			if stopped {
				return
			}
			wellOwned(t, r.machine)
		}
	})
}
