package fsm_test

import (
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// erasedInstance is a machine with an instance of manager m that has a checkpoint, a thread and two
// timers, and the result of the newest erasure.
type erasedInstance struct {
	clusterOps
	ref  agent.InstanceRef
	name string
}

func newErasedInstance(t *testing.T) erasedInstance {
	t.Helper()
	r := newOwners(t)
	r.record()
	ref := agent.InstanceRef{Scope: agent.DefaultScope, Manager: "m", Key: "a"}
	r.must(7, layout.PartitionAssign, "n1")
	return erasedInstance{r, ref, ref.Checkpoint()}
}

// fill makes the instance.
func (r erasedInstance) fill() {
	r.tb.Helper()
	do[*agent.CheckpointResult](r.subject,
		&agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "a", ID: "t1", Next: startWall + time.Hour.Milliseconds(), Type: "turn"}},
		&agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "a", ID: "t2", Next: 1, Type: "turn"}},
		&agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "aa", ID: "t1", Next: 1, Type: "turn"}},
		&agent.AppendThread{Thread: r.name, Entries: drafts(`{}`)},
		&agent.PutCheckpoint{Key: r.name, State: agent.JSON(`{"n":1}`), Thread: &agent.Pointer{Thread: r.name, Rev: 1}},
	)
}

// under commits as the owner of partition 7, for the instance loaded at an index.
func (r erasedInstance) under(since uint64, ops ...agent.Op) *agent.Error {
	fence := r.machine.Partition(7).Fence()
	fence.Agent, fence.Since = r.name, since
	return r.batch(agent.Commit{Scope: agent.DefaultScope, Fence: fence, Ops: ops})[0].Err
}

// endings returns the instances that their owners must end.
func (r erasedInstance) endings() []agent.Ending {
	r.tb.Helper()
	all, next, err := r.machine.Endings("", 10)
	if err != nil || next != "" {
		r.tb.Fatalf("%v, more from %q, %v", all, next, err)
	}
	return all
}

// end records that an instance has ended.
func (r erasedInstance) end(e agent.Ending, awake bool) {
	r.tb.Helper()
	if err := r.say(r.machine.EncodeEndInstance(e, awake)); err != nil {
		r.tb.Fatal(err)
	}
}

func (r erasedInstance) receipt() *agent.Erasure {
	r.tb.Helper()
	return read[*agent.Erasure](r.subject, &agent.GetErasure{Agent: r.name})
}

func TestAnErasureIsCompleteOnceItsLiveInstanceHasEnded(t *testing.T) {
	r := newErasedInstance(t)
	r.fill()
	erased := do[*agent.Erasure](r.subject, &agent.EraseAgent{Agent: r.name})
	if erased.Complete() || erased.Checkpoints != 1 || erased.Timers != 2 || erased.Instances != 1 || erased.Ending != erased.Index {
		t.Fatalf("erased: %+v", erased)
	}
	if n := r.rows("\x92"); n != 1 {
		t.Errorf("%d timers are left, not that of another instance alone", n)
	}
	if r.pass(); r.receipt().Complete() {
		t.Fatal("it is complete though the instance has not ended")
	}
	all := r.endings()
	if len(all) != 1 || all[0] != (agent.Ending{InstanceRef: r.ref, Index: erased.Index}) {
		t.Fatalf("to be ended: %+v", all)
	}
	r.end(agent.Ending{InstanceRef: r.ref, Index: erased.Index - 1}, true) // of an earlier erasure
	if r.receipt().Complete() {
		t.Fatal("it is complete by the end of another one")
	}
	for range 2 { // the second changes nothing
		r.end(all[0], true)
		if now := r.receipt(); !now.Complete() || now.Instances != 1 || now.Ending != 0 || len(r.endings()) != 0 {
			t.Fatalf("ended: %+v", now)
		}
	}
	if n := r.leftovers(); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// Two erasures of one live instance, in one log entry or before its owner has ended it, count it once.
func TestAnInstanceThatIsErasedTwiceCountsOnce(t *testing.T) {
	erase := func() agent.Commit {
		return agent.Commit{Scope: agent.DefaultScope, Ops: []agent.Op{&agent.EraseAgent{Agent: agent.InstanceRef{Manager: "m", Key: "a"}.Checkpoint()}}}
	}
	for name, twice := range map[string]func(r erasedInstance){
		"in one entry": func(r erasedInstance) { r.batch(erase(), erase()) },
		"in two":       func(r erasedInstance) { r.batch(erase()); r.batch(erase()) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newErasedInstance(t)
			r.fill()
			twice(r)
			r.end(r.endings()[0], true)
			first := r.receipt()
			if !first.Complete() || first.Instances != 1 {
				t.Fatalf("ended: %+v", first)
			}
			twice(r) // nothing is stored, and a new instance is live
			r.end(r.endings()[0], true)
			if now := r.receipt(); !now.Complete() || now.Index == first.Index || now.Instances != 1 {
				t.Errorf("the next instance's receipt is %+v, after %+v", now, first)
			}
		})
	}
}

// An instance without stored rows may be live all the same: its receipt is its own.
func TestAnInstanceOfWhichNothingIsStoredHasItsOwnReceipt(t *testing.T) {
	r := newErasedInstance(t)
	r.fill()
	first := do[*agent.Erasure](r.subject, &agent.EraseAgent{Agent: r.name})
	r.end(r.endings()[0], false)

	again := do[*agent.Erasure](r.subject, &agent.EraseAgent{Agent: r.name})
	if again.Complete() || again.Index != first.Index || again.Instances != 1 {
		t.Fatalf("erased again: %+v", again)
	}
	r.end(r.endings()[0], false) // it was not in memory
	if now := r.receipt(); !now.Complete() || now.Index != first.Index || now.Instances != 1 {
		t.Fatalf("the receipt of before is now %+v", now)
	}

	do[*agent.Erasure](r.subject, &agent.EraseAgent{Agent: r.name})
	r.end(r.endings()[0], true)
	now := r.receipt()
	if !now.Complete() || now.Index <= first.Index || now.Instances != 1 || now.Checkpoints != 0 || now.Hash == first.Hash {
		t.Errorf("what was awake has the receipt %+v", now)
	}
}

func TestWhatAnInstanceBeganBeforeItsErasureIsNotStored(t *testing.T) {
	r := newErasedInstance(t)
	r.fill()
	read := r.machine.Applied()
	put := &agent.PutCheckpoint{Key: r.name, State: agent.JSON(`{"n":2}`)}
	if err := r.under(read, put); err != nil {
		t.Fatalf("before the erasure: %v", err)
	}
	erased := do[*agent.Erasure](r.subject, &agent.EraseAgent{Agent: r.name})
	for _, ended := range []bool{false, true} {
		if ended {
			r.end(r.endings()[0], true)
		}
		err := r.under(erased.Index-1, put)
		if err == nil || err.Code != agent.CodeDeleted || err.Reason != agent.ReasonErased || err.Op != -1 {
			t.Errorf("what began before it, ended %v: %v", ended, err)
		}
	}
	if err := r.under(erased.Index, put); err != nil {
		t.Errorf("what began after it: %v", err)
	}
	r.missing(agent.CodeNotFound, &agent.GetTimer{Manager: "m", Key: "a", ID: "t1"})
}

// Below its level the erasure has the same result as in a build that does not know it.
func TestBelowItsLevelAnErasureEndsNoInstance(t *testing.T) {
	r := newSubject(t)
	r.raise(5)
	name := agent.InstanceRef{Manager: "m", Key: "a"}.Checkpoint()
	do[*agent.CheckpointResult](r, &agent.PutCheckpoint{Key: name, State: agent.JSON(`{}`)})
	if erased := do[*agent.Erasure](r, &agent.EraseAgent{Agent: name}); !erased.Complete() || erased.Instances != 0 {
		t.Errorf("erased: %+v", erased)
	}
}

// A live instance does not restore data that was deleted with its scope.
func TestWhatAnInstanceBeganBeforeItsScopeWasDeletedIsNotStored(t *testing.T) {
	r := newErasedInstance(t)
	r.fill()
	read := r.machine.Applied()
	deleted, err := r.try(&agent.DeleteScope{})
	if err != nil {
		t.Fatal(err)
	}
	put := &agent.PutCheckpoint{Key: r.name, State: agent.JSON(`{"n":2}`)}
	if err := r.under(read, put); err == nil || err.Code != agent.CodeDeleted || err.Reason != agent.ReasonErased {
		t.Errorf("what began before: %v", err)
	}
	r.missing(agent.CodeNotFound, &agent.GetCheckpoint{Key: r.name})
	if err := r.under(deleted.Index, put); err != nil {
		t.Errorf("what began after: %v", err)
	}

	fence := r.machine.Partition(7).Fence()
	fence.Agent, fence.Since = r.name, r.machine.Applied()
	together := r.batch(
		agent.Commit{Scope: agent.DefaultScope, Ops: []agent.Op{&agent.DeleteScope{}}},
		agent.Commit{Scope: agent.DefaultScope, Fence: fence, Ops: []agent.Op{put}},
	)
	if err := together[1].Err; err == nil || err.Code != agent.CodeDeleted {
		t.Errorf("in the entry that deleted it: %v", err)
	}
}
