package fsm_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm/deletion"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

func TestOnlySoManyDeletionsAreUnderWay(t *testing.T) {
	r := newSubject(t)
	scopes := agent.DeletionsMax/agent.DeletionsOfScopeMax + 1
	in := func(scope string, op agent.Op) agent.Decided {
		return r.batch(agent.Commit{Scope: scope, Ops: []agent.Op{op}})[0]
	}
	begin := func(scope string, i int) agent.Decided {
		return in(scope, &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: fmt.Sprintf("k%02d", i)})
	}
	// Each deletion has enough keys that it is under way when the others begin.
	for s := range scopes {
		var ops []agent.Op
		for i := range agent.DeletionsOfScopeMax + 1 {
			for j := range 4 {
				ops = append(ops, &agent.PutValue{Key: fmt.Sprintf("k%02d-%d", i, j)})
			}
		}
		if d := r.batch(agent.Commit{Scope: fmt.Sprint("s", s), Ops: ops})[0]; d.Err != nil {
			t.Fatal(d.Err)
		}
	}
	refused := func(d agent.Decided, limit string) {
		t.Helper()
		if d.Err == nil || d.Err.Code != agent.CodeOverloaded || d.Err.Limit != limit || d.Err.RetryAfterMS == 0 {
			t.Fatalf("%+v, %v; want it refused by %s", d.Result, d.Err, limit)
		}
	}
	var all []agent.Commit
	for s := range scopes - 1 {
		for i := range agent.DeletionsOfScopeMax {
			all = append(all, agent.Commit{Scope: fmt.Sprint("s", s), Ops: []agent.Op{&agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: fmt.Sprintf("k%02d", i)}}})
		}
	}
	for i, d := range r.batch(all...) { // in one entry, so that none has gone on
		if d.Err != nil {
			t.Fatalf("deletion %d: %v", i, d.Err)
		}
	}
	refused(begin("s1", agent.DeletionsOfScopeMax), fmt.Sprintf("deletions_of_scope_max=%d", agent.DeletionsOfScopeMax))
	refused(begin(fmt.Sprint("s", scopes-1), 0), fmt.Sprintf("deletions_max=%d", agent.DeletionsMax))
	// One that completes at once is not under way.
	if d := in("s1", &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "none"}); d.Err != nil {
		t.Fatal(d.Err)
	}
	// What was refused has deleted nothing.
	view := r.machine.View()
	defer view.Close()
	if a := view.Answer("s1", &agent.GetValue{Key: fmt.Sprintf("k%02d-0", agent.DeletionsOfScopeMax)}); a.Err != nil {
		t.Fatal(a.Err)
	}
	r.settled()
	if d := begin("s1", agent.DeletionsOfScopeMax); d.Err != nil {
		t.Fatal(d.Err)
	}
}

func TestReceiptsOfDeletionsAreKeptForATimeAndInANumber(t *testing.T) {
	r := newSubject(t)
	first := do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "a"})
	r.keyed(keysFrom("w", 3)...)
	underWay := do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "w"})
	var ops []agent.Op
	for range agent.DeletionsKeptMax - 2 {
		ops = append(ops, &agent.DeletePrefix{Kind: agent.ChangedThread, Prefix: "none"})
	}
	do[*agent.PrefixDeletion](r, ops...)
	read[*agent.PrefixDeletion](r, &agent.GetDeletion{ID: first.ID})
	if n := r.rows(kv.KindDeletion); n != agent.DeletionsKeptMax {
		t.Fatalf("%d receipts are kept", n)
	}
	last := do[*agent.PrefixDeletion](r, ops[0])
	r.missing(agent.CodeNotFound, &agent.GetDeletion{ID: first.ID})
	read[*agent.PrefixDeletion](r, &agent.GetDeletion{ID: underWay.ID})
	r.settled()
	if n := r.rows(kv.KindDeletion); n != agent.DeletionsKeptMax {
		t.Fatalf("%d receipts are kept", n)
	}
	queued := slices.DeleteFunc(r.queued(), func(key string) bool {
		_, target, _ := kv.SplitDue(key)
		return target[:1] != kv.KindDeletion
	})
	if len(queued) != agent.DeletionsKeptMax {
		t.Fatalf("%d receipts are queued", len(queued))
	}
	page := read[*agent.DeletionList](r, &agent.ListDeletions{Page: agent.Page{Limit: 2, Order: agent.Descending}})
	if len(page.Items) != 2 || page.Items[0].ID != last.ID || page.Next != page.Items[1].ID {
		t.Fatalf("the newest receipts are %+v", page)
	}
	r.after(agent.DeletionTTL - time.Minute)
	r.settled()
	read[*agent.PrefixDeletion](r, &agent.GetDeletion{ID: last.ID})
	r.after(time.Hour)
	r.settled()
	r.missing(agent.CodeNotFound, &agent.GetDeletion{ID: last.ID})
	if n := r.rows(kv.KindDeletion); n != 0 {
		t.Fatalf("%d receipts are kept after their time", n)
	}
}

// Values that had expired before a deletion are not counted by it, although they have still been stored.
func TestADeletionCountsNothingThatHadExpired(t *testing.T) {
	r := newSubject(t)
	var ops []agent.Op
	for _, key := range keysFrom("v", 2*txn.SweepMax) { // the entry of the deletion sweeps half of them
		ops = append(ops, &agent.PutValue{Key: key, TTL: time.Second})
	}
	do[*agent.ValueResult](r, ops...)
	r.after(time.Minute)
	d := do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "v"})
	r.settled()
	if got := read[*agent.PrefixDeletion](r, &agent.GetDeletion{ID: d.ID}); got.Removed != 0 || got.CompletedAt == 0 {
		t.Errorf("the receipt is %+v", got)
	}
	if n := r.rows(kv.KindValue) + r.rows(kv.KindValueTombstone); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// A page of a list reads a bounded number of rows, also of those that a deletion has still to remove.
func TestAListIsBoundedWhileADeletionIsUnderWay(t *testing.T) {
	r := newSubject(t)
	for some := range slices.Chunk(keysFrom("gone", agent.ReadRowsMax+1), agent.CommitOpsMax) {
		ops := make([]agent.Op, len(some))
		for i, key := range some {
			ops[i] = &agent.PutValue{Key: key}
		}
		do[*agent.ValueResult](r, ops...)
	}
	do[*agent.ValueResult](r, &agent.PutValue{Key: "left"})
	do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "gone"})
	first := read[*agent.ValueList](r, &agent.ListValues{})
	if len(first.Items) != 0 || first.Next == "" {
		t.Fatalf("the first page has %d values, and goes on after %q", len(first.Items), first.Next)
	}
	if next := read[*agent.ValueList](r, &agent.ListValues{Page: agent.Page{After: first.Next}}); len(next.Items) != 1 || next.Next != "" {
		t.Errorf("the next page has %d values, and goes on after %q", len(next.Items), next.Next)
	}
}

// With the real size of a step, an entry removes about that many rows.
func TestAStepOfADeletionIsBounded(t *testing.T) {
	step := deletion.StepRows
	deletion.StepRows = agent.DeletePrefixRowsMax
	defer func() { deletion.StepRows = step }()
	r := newSubject(t)
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{History: agent.HistoryMax}})
	const values, revisions = 700, 60
	keys := keysFrom("x", values)
	for some := range slices.Chunk(keys, 100) {
		var ops []agent.Op
		for _, key := range some {
			ops = append(ops, &agent.PutValue{Key: key, TTL: time.Hour})
		}
		do[*agent.ValueResult](r, ops...)
	}
	for _, key := range keys[:20] {
		var ops []agent.Op
		for range revisions {
			ops = append(ops, &agent.PutCheckpoint{Key: key, State: agent.JSON(`{}`)})
		}
		do[*agent.CheckpointResult](r, ops...)
	}
	count := func() (n int) {
		for _, kind := range append(deletionRows, queueRows) {
			n += r.rows(kind)
		}
		return n
	}
	before := count()
	bounded := func() {
		t.Helper()
		if now := count(); before-now > agent.DeletePrefixRowsMax+2*revisions {
			t.Fatalf("an entry removed %d rows", before-now)
		} else {
			before = now
		}
	}
	for _, kind := range deletedKinds {
		do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: kind, Prefix: "x"})
		bounded()
	}
	entries := 0
	for _, wall := r.machine.Due(); wall != 0 && wall <= r.wall; _, wall = r.machine.Due() {
		r.pass()
		bounded()
		entries++
	}
	if entries < 3 || entries > 30 {
		t.Errorf("the deletions took %d more entries", entries)
	}
	for _, d := range read[*agent.DeletionList](r, &agent.ListDeletions{}).Items {
		if !d.Complete() {
			t.Errorf("the receipt is %+v", d)
		}
	}
}

// A thread that goes removes no other that is gone too: a chain of forks can be longer than the stack
// of a goroutine allows, and than one entry may remove.
func TestAChainOfForksGoesStepByStep(t *testing.T) {
	const links = 300
	r := newSubject(t)
	r.record()
	name := func(i int) string { return fmt.Sprintf("x%04d", links-i) } // the newest fork goes first
	do[*agent.ThreadResult](r, appendTo(name(0), `{"n":1}`, `{"n":2}`))
	for i := range links {
		rev := uint64(2*i + 2)
		do[*agent.ThreadResult](r,
			&agent.ForkThread{Thread: name(i), NewThread: name(i + 1)}, appendTo(name(i+1), `{"n":1}`, `{"n":2}`),
			&agent.CompactThread{Thread: name(i + 1), BeforeSeq: rev - 1})
	}
	do[*agent.ThreadResult](r, appendTo("x", `{"n":1}`)) // the first step removes it alone
	do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: agent.ChangedThread, Prefix: "x"})
	for before := r.rows(kv.KindThread); before > 0; {
		r.pass()
		now := r.rows(kv.KindThread)
		if before-now > 2*deletion.StepRows {
			t.Fatalf("an entry removed %d threads", before-now)
		}
		before = now
	}
	for _, kind := range []string{kv.KindEntry, kv.KindForkPin, kv.KindShared, kv.KindEntryKind} {
		if n := r.rows(kind); n != 0 {
			t.Errorf("%d rows of kind %x are left", n, kind)
		}
	}
	if scope := read[*agent.Scope](r, &agent.GetScope{}); scope.Keys != 0 || scope.Bytes != 0 {
		t.Errorf("the scope counts %d keys and %d bytes", scope.Keys, scope.Bytes)
	}
}
