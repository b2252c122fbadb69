package fsm_test

import (
	"slices"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// CL-4, CL-6: an expired lease owns nothing from that entry on, and begins again instead of being
// renewed.
func TestALeaseThatLapsesFreesWhatItsNodeOwns(t *testing.T) {
	r := newOwners(t)
	owned := r.must(1, layout.PartitionAssign, "n1")
	other := r.must(2, layout.PartitionAssign, "n2")
	r.must(3, layout.PartitionAssign, "n2")
	r.must(3, layout.PartitionDrain, "n1")
	if due, _ := r.machine.Due(); due != 1000+uint64(leaseTTL.Milliseconds()) {
		t.Errorf("due at %d", due)
	}
	r.after(leaseTTL - time.Millisecond)
	if err := r.renew("n2", "life-1"); err != nil {
		t.Fatal(err)
	}
	if err := r.fencedWrite(1, owned.Epoch); err != nil {
		t.Fatalf("a millisecond before it lapses: %v", err)
	}
	changed := r.machine.PartitionsChanged()
	r.after(time.Millisecond)
	r.wantFenced(1, owned.Epoch, "")
	select {
	case <-changed:
	default:
		t.Error("those that wait for a change were not woken")
	}
	if err := r.fencedWrite(2, other.Epoch); err != nil {
		t.Fatal(err)
	}
	if err := r.renew("n1", "life-1"); err != nil {
		t.Fatal(err)
	}
	r.wantFenced(1, owned.Epoch, "")
	if p := r.machine.Partition(1); p.State != layout.PartitionFree || p.Why != "the lease of node n1 lapsed" {
		t.Errorf("%+v", p)
	}
	if again := r.must(1, layout.PartitionAssign, "n1"); again.Epoch <= owned.Epoch {
		t.Errorf("epoch %d after %d", again.Epoch, owned.Epoch)
	}
	r.after(leaseTTL - 2*time.Millisecond)
	if p := r.must(3, layout.PartitionRelease, ""); p.Owner != "n1" { // n1 has a new lease, which is enough
		t.Errorf("%+v", p)
	}
}

func TestAChangeOfLeaderGivesLeasesTheirFullTimeAgain(t *testing.T) {
	r := newOwners(t)
	owned := r.must(1, layout.PartitionAssign, "n1")
	r.after(4 * time.Second)
	r.batch()
	r.after(3 * time.Second) // without a leader
	r.term++
	if err := r.fencedWrite(1, owned.Epoch); err != nil {
		t.Fatalf("its owner could not renew: %v", err)
	}
	r.after(2 * time.Second) // 5 s after the last entry of the term before
	r.wantFenced(1, owned.Epoch, "")
}

func TestALeaseThatLapsedBeforeAnotherLedStaysLapsed(t *testing.T) {
	r := newOwners(t)
	owned := r.must(1, layout.PartitionAssign, "n1")
	r.after(leaseTTL - time.Millisecond)
	r.batch()
	r.after(time.Second)
	r.term++
	r.batch() // the term starts at the time of the entry before
	if err := r.fencedWrite(1, owned.Epoch); err != nil {
		t.Fatal(err)
	}
	r.after(leaseTTL - time.Millisecond)
	r.term++
	r.wantFenced(1, owned.Epoch+1, "n1") // the TTL was restarted
	r.after(leaseTTL)
	r.batch() // the lease has ended, and another leader does not restore it
	r.term++
	r.wantFenced(1, owned.Epoch, "")
}

// The leader of a term ends a lease that earlier terms renewed, and no other.
func TestALeaderEndsTheLeaseOfAnEarlierTerm(t *testing.T) {
	for what, c := range map[string]struct {
		between func(r clusterOps)
		term    func(now uint64) uint64 // that the leader names
		ends    bool
	}{
		"not renewed":                         {func(clusterOps) {}, func(now uint64) uint64 { return now }, true},
		"renewed in the term, at once":        {func(r clusterOps) { _ = r.renew("n1", "life-1") }, func(now uint64) uint64 { return now }, false},
		"another process has the lease":       {func(r clusterOps) { _ = r.renew("n1", "life-2") }, func(now uint64) uint64 { return now }, false},
		"the leader meant the term before":    {func(clusterOps) {}, func(now uint64) uint64 { return now - 1 }, false},
		"no entry of that term has come yet":  {func(clusterOps) {}, func(now uint64) uint64 { return now + 1 }, false},
		"renewed in it, with time in between": {func(r clusterOps) { r.after(time.Second); _ = r.renew("n1", "life-1"); r.after(time.Millisecond) }, func(now uint64) uint64 { return now }, false},
	} {
		t.Run(what, func(t *testing.T) {
			r := newOwners(t)
			r.raise(layout.LapseLevel)
			owned := r.must(1, layout.PartitionAssign, "n1")
			if err := r.renew("n1", "life-1"); err != nil {
				t.Fatal(err)
			}
			r.term++
			c.between(r)
			if err := r.say(r.machine.EncodeLapseNodeLease("n1", "life-1", c.term(r.term))); err != nil {
				t.Fatal(err)
			}
			ended := !slices.ContainsFunc(r.machine.NodeLeases(), func(l layout.NodeLease) bool { return l.Node == "n1" })
			if ended != c.ends {
				t.Fatalf("the lease ended: %v", ended)
			}
			if now := r.machine.Partition(1); ended && now.Owner != "" {
				t.Errorf("%+v after %+v", now, owned)
			}
			if ended {
				r.wantFenced(1, owned.Epoch, "")
			}
		})
	}
}

func TestANodeThatIsStartedAnewOwnsNothing(t *testing.T) {
	r := newOwners(t)
	owned := r.must(1, layout.PartitionAssign, "n1")
	if err := r.renew("n1", "life-2"); err != nil {
		t.Fatal(err)
	}
	r.wantFenced(1, owned.Epoch, "")
	if err := r.say(r.machine.EncodeRenewNodeLease(layout.NodeLease{Node: "n1", Incarnation: "other-data", Life: "life-3", TTL: leaseTTL}, nil)); err == nil || err.Code != agent.CodeNotFound {
		t.Errorf("a stranger's lease: %v", err)
	}
	again := r.must(1, layout.PartitionAssign, "n1")
	if again.Incarnation != "life-2" {
		t.Errorf("%+v", again)
	}
	if err := r.say(r.machine.EncodeEndNodeLease("n1", "life-1")); err != nil || r.machine.Partition(1) != again {
		t.Errorf("an earlier life ended the lease of the next: %v", err)
	}
	if err := r.say(r.machine.EncodeEndNodeLease("n1", "life-2")); err != nil {
		t.Fatal(err)
	}
	r.wantFenced(1, again.Epoch, "")
	if len(r.machine.NodeLeases()) != 2 {
		t.Errorf("%+v", r.machine.NodeLeases())
	}
}

// A renewal of an earlier process that arrives late changes nothing.
func TestAReplacedProcessDoesNotTakeTheLeaseBack(t *testing.T) {
	r := newOwners(t)
	r.raise(layout.LapseLevel)
	if err := r.renew("n1", "life-2"); err != nil {
		t.Fatal(err)
	}
	owned := r.must(1, layout.PartitionAssign, "n1")
	for range 2 {
		if err := r.renew("n1", "life-1"); err == nil || err.Code != agent.CodeAlreadyClaimed {
			t.Errorf("a late renewal: %v", err)
		}
		if err := r.renew("n1", "life-2"); err != nil {
			t.Error(err)
		}
	}
	if now := r.machine.Partition(1); now.Owner != "n1" || now.Epoch != owned.Epoch {
		t.Errorf("%+v after %+v", now, owned)
	}
	if err := r.renew("n1", "life-3"); err != nil {
		t.Error(err)
	}
}

// A removed node keeps its partitions until its lease ends, and cannot renew it. Its name with
// another data directory must wait for that.
func TestARemovedNodesLeaseRunsOut(t *testing.T) {
	r := newOwners(t)
	owned := r.must(1, layout.PartitionAssign, "n1")
	if err := r.say(r.machine.EncodeRemoveMember("n1", "data-n1")); err != nil {
		t.Fatal(err)
	}
	if err := r.renew("n1", "life-1"); err == nil || err.Code != agent.CodeNotFound {
		t.Errorf("%v", err)
	}
	if err := r.fencedWrite(1, owned.Epoch); err != nil {
		t.Errorf("before it lapsed: %v", err)
	}
	if err := r.say(r.machine.EncodePutMember(layout.Member{ID: "n1", Incarnation: "new-data", RaftAddr: "x"})); err != nil {
		t.Fatal(err)
	}
	renew := func() *agent.Error {
		return r.say(r.machine.EncodeRenewNodeLease(layout.NodeLease{Node: "n1", Incarnation: "new-data", Life: "life-2", TTL: leaseTTL}, nil))
	}
	if err := renew(); err == nil || err.Code != agent.CodeAlreadyClaimed {
		t.Errorf("beside the earlier one: %v", err)
	}
	r.after(leaseTTL)
	if err := renew(); err != nil {
		t.Error(err)
	}
	r.wantFenced(1, owned.Epoch, "")
}

func TestLeasesKeepToTheirLimits(t *testing.T) {
	r := newOwners(t)
	for ttl, fine := range map[time.Duration]bool{
		layout.NodeLeaseTTLMin: true, layout.NodeLeaseTTLMax: true, layout.NodeLeaseTTLMin - time.Millisecond: false, layout.NodeLeaseTTLMax + time.Millisecond: false,
	} {
		err := r.say(r.machine.EncodeRenewNodeLease(layout.NodeLease{Node: "n1", Incarnation: "data-n1", Life: "life-1", TTL: ttl}, nil))
		if (err == nil) != fine {
			t.Errorf("ttl %v: %v", ttl, err)
		}
	}
	for _, name := range []string{"", "a\x00b"} {
		if err := r.say(r.machine.EncodeRenewNodeLease(layout.NodeLease{Node: name, Incarnation: "data", Life: "life", TTL: leaseTTL}, nil)); err == nil || err.Code != agent.CodeInvalid {
			t.Errorf("node %q: %v", name, err)
		}
		if err := r.say(r.machine.EncodeEndNodeLease("n1", name)); err == nil || err.Code != agent.CodeInvalid {
			t.Errorf("life %q: %v", name, err)
		}
	}
}
