package fsm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/scoperow"
	"dormouse/fsm/txn"
)

// queued returns the keys of the queues of wall times.
func (r *subject) queued() (keys []string) {
	r.tb.Helper()
	view := r.machine.View()
	defer view.Close()
	for _, queue := range []string{kv.KindDueWall, kv.KindDueTimer} {
		if err := view.EachOfKind(queue, func(rest string, _ []byte) error {
			keys = append(keys, queue+rest)
			return nil
		}); err != nil {
			r.tb.Fatal(err)
		}
	}
	return keys
}

// wanted returns the keys that the queues must have: one for each row that falls due.
func (r *subject) wanted() map[string]bool {
	r.tb.Helper()
	view := r.machine.View()
	defer view.Close()
	keys := map[string]bool{}
	for kind := range scoperow.Moved {
		if err := view.EachOfKind(kind, func(rest string, raw []byte) error {
			_, id, _ := strings.Cut(rest, kv.Separator)
			_, due, err := scoperow.Check(agent.ScopeRow{Key: []byte(kind + id), Value: raw})
			switch {
			case due == 0 || err != nil:
			case kind == kv.KindTimer:
				keys[kv.DueTimerKey(due, kind+rest)] = true
			default:
				keys[kv.DueWallKey(due, kind+rest)] = true
			}
			return err
		}); err != nil {
			r.tb.Fatal(err)
		}
	}
	return keys
}

// leaveDead deletes a scope that counts for some dead rows, at least 2.
func (r *subject) leaveDead(rows int) {
	r.tb.Helper()
	for ; rows > 0; rows -= 2001 {
		value := &agent.PutValue{Key: "v", Bytes: make([]byte, min(rows-1, 2000)<<10)}
		for _, op := range []agent.Op{value, &agent.DeleteScope{}} {
			if d := r.batch(agent.Commit{Scope: "junk", Ops: []agent.Op{op}})[0]; d.Err != nil {
				r.tb.Fatal(d.Err)
			}
		}
	}
}

// settle applies empty entries, as a leader does while something is due.
func (r *subject) settle() (entries int) {
	r.tb.Helper()
	for {
		if _, wall := r.machine.Due(); wall == 0 || wall > r.wall {
			return entries
		}
		r.pass()
		entries++
	}
}

// checkQueues starts a vacuum and checks that it removes all dead rows and no other.
func (r *subject) checkQueues() error {
	want := r.wanted()
	r.leaveDead(txn.DeadRowsMax + 2)
	r.settle()
	kinds := map[string]bool{}
	for kind, shape := range scoperow.Moved {
		kinds[kind] = shape.Expires()
	}
	for _, key := range r.queued() {
		_, target, _ := kv.SplitDue(key)
		if kinds[target[:1]] && !want[key] {
			return fmt.Errorf("the dead row %q is still queued", key)
		}
		delete(want, key)
	}
	for key := range want {
		return fmt.Errorf("the row %q is not queued", key)
	}
	return nil
}

func TestDeadRowsLeaveTheQueues(t *testing.T) {
	r := newSubject(t)
	r.raise(txn.VacuumLevel)
	const year, many = 365 * 24 * time.Hour, 5000
	for _, scope := range []string{agent.DefaultScope, "kept"} {
		ops := []agent.Op{
			&agent.PutScope{Policy: agent.Policy{History: 3, HistoryAgeMS: uint64(year.Milliseconds())}},
			&agent.WriteMemory{Agent: "a", ID: "m", Content: "tea", TTL: year},
			state("c", `{}`),
			state("c", `{"n":2}`),
			once("t", startWall+year.Milliseconds()),
		}
		for i := range many {
			ops = append(ops, &agent.PutValue{Key: fmt.Sprint("v", i), TTL: year})
		}
		for part := range slices.Chunk(ops, 100) {
			if d := r.batch(agent.Commit{Scope: scope, Ops: part})[0]; d.Err != nil {
				t.Fatal(d.Err)
			}
		}
	}
	before := len(r.queued())
	do[*agent.DeleteResult](r, &agent.DeleteScope{})
	entries := r.settle()
	if left := len(r.queued()); left > before/2+1 { // the deleted scope's feed is queued for some minutes
		t.Errorf("%d of %d rows are left", left, before)
	}
	if least := before / 256; entries < least || entries > least+5 {
		t.Errorf("the vacuum took %d entries, want about %d", entries, least)
	}
	if err := r.checkQueues(); err != nil {
		t.Fatal(err)
	}
	r.after(year)
	r.settle()
	if left := r.rows(kv.KindValue) + r.rows(kv.KindMemory); left != 0 {
		t.Errorf("%d rows of the scope that stayed are left after their time", left)
	}
	wantDue(t, r, 1)
}

func TestErasedMemoriesLeaveTheQueue(t *testing.T) {
	r := newSubject(t)
	r.raise(txn.VacuumLevel)
	for n := 0; n <= txn.DeadRowsMax; n += 100 {
		var ops []agent.Op
		for i := range 100 {
			ops = append(ops, &agent.WriteMemory{Agent: "a", ID: fmt.Sprint(n + i), Content: "tea", TTL: time.Hour})
		}
		do[*agent.MemoryResult](r, ops...)
	}
	do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"})
	r.settle()
	if left := len(r.queued()); left > 2 { // the receipt, and the tombstone
		t.Fatalf("%d rows are left", left)
	}
}

// A vacuum begins once more rows are dead than the last one kept, and than DeadRowsMax.
func TestWhenAVacuumBegins(t *testing.T) {
	r := newSubject(t)
	r.raise(txn.VacuumLevel)
	const kept = txn.DeadRowsMax + 1000
	for n := 0; n < kept; n += 1000 {
		var ops []agent.Op
		for i := range min(1000, kept-n) {
			ops = append(ops, &agent.PutValue{Key: fmt.Sprint("v", n+i), TTL: time.Hour})
		}
		do[*agent.ValueResult](r, ops...)
	}
	for i, step := range []struct {
		dead int
		runs bool
	}{{txn.DeadRowsMax - 10, false}, {20, true}, {txn.DeadRowsMax + 500, false}, {1000, true}} {
		r.leaveDead(step.dead)
		if entries := r.settle(); (entries > 0) != step.runs {
			t.Errorf("step %d: the vacuum took %d entries, want some: %v", i, entries, step.runs)
		}
	}
}

// A step of a vacuum reads about 1 MiB of targets, even if they are few.
func TestAVacuumReadsLittleInAStep(t *testing.T) {
	r := newSubject(t)
	r.raise(txn.VacuumLevel)
	const threads = 64
	metadata := agent.JSON(`{"k":"` + strings.Repeat("x", agent.MetadataBytesMax-100) + `"}`)
	for i := range threads {
		id := fmt.Sprint("t", i)
		do[*agent.ThreadResult](r, &agent.AppendThread{Thread: id, Entries: drafts(`{}`), Metadata: metadata})
		do[*agent.ThreadResult](r, &agent.SetTTL{Thread: id, TTL: time.Hour})
	}
	r.leaveDead(txn.DeadRowsMax + 2)
	if entries, least := r.settle(), threads*agent.MetadataBytesMax>>20; entries < least {
		t.Errorf("the vacuum took %d entries to read %d MiB", entries, least)
	}
}
