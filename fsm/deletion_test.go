package fsm_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/storage"
)

// deletedKinds are the kinds that are deleted by prefix.
var deletedKinds = []agent.ChangeKind{agent.ChangedValue, agent.ChangedCheckpoint, agent.ChangedThread}

// keyed writes a value, a checkpoint with two revisions and a thread under each key.
func (r *subject) keyed(keys ...string) {
	r.tb.Helper()
	for _, key := range keys {
		do[*agent.CheckpointResult](r,
			&agent.PutValue{Key: key, Bytes: []byte("v"), TTL: time.Hour},
			appendTo(key, `{"n":1}`, `{"n":2}`), pointing(key, key, 1), pointing(key, key, 2))
	}
}

func keysFrom(prefix string, n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprintf("%s%04d", prefix, i))
	}
	return keys
}

// deletePrefix begins a deletion of each kind.
func (r *subject) deletePrefix(prefix string) (ids []string) {
	r.tb.Helper()
	for _, kind := range deletedKinds {
		d := do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: kind, Prefix: prefix})
		ids = append(ids, d.ID)
	}
	return ids
}

// listedKeys returns the keys of all three lists.
func (r *subject) listedKeys() (keys []string) {
	r.tb.Helper()
	for _, row := range read[*agent.ValueList](r, &agent.ListValues{}).Items {
		keys = append(keys, "values/"+row.Key)
	}
	for _, row := range read[*agent.CheckpointList](r, &agent.ListCheckpoints{}).Items {
		keys = append(keys, "checkpoints/"+row.Key)
	}
	for _, row := range read[*agent.ThreadList](r, &agent.ListThreads{}).Items {
		keys = append(keys, "threads/"+row.ID)
	}
	return keys
}

// deletionRows are the kinds of rows that a deletion of each kind leaves none of.
var deletionRows = []string{
	kv.KindValue, kv.KindValueBytes, kv.KindCheckpoint, kv.KindCheckpointBody, kv.KindCheckpointHistory, kv.KindPin,
	kv.KindThread, kv.KindEntry, kv.KindEntryID, kv.KindEntryKind, kv.KindDeleting,
}

func TestADeletionByPrefixHoldsAtOnceAndIsRemovedStepByStep(t *testing.T) {
	r := newSubject(t)
	r.record()
	r.keyed("other", "x", "y")
	r.keyed(keysFrom("x", 5)...)
	old := read[*agent.Value](r, &agent.GetValue{Key: "x0004"}).Incarnation
	watched, cancel := r.machine.WatchThread(agent.DefaultScope, "x0004")
	defer cancel()
	ids := r.deletePrefix("x")
	began := r.index
	select {
	case <-watched:
	default:
		t.Error("a watcher of a deleted thread is not woken")
	}
	for _, id := range ids {
		if d := read[*agent.PrefixDeletion](r, &agent.GetDeletion{ID: id}); d.Complete() || d.Removed > 3 {
			t.Fatalf("deleted at once: %+v", d)
		}
	}
	kept := []string{"values/other", "values/y", "checkpoints/other", "checkpoints/y", "threads/other", "threads/y"}
	if got := r.listedKeys(); !slices.Equal(got, kept) {
		t.Fatalf("the lists have %q", got)
	}
	last := "x0004"
	for _, q := range []agent.Read{
		&agent.GetValue{Key: last}, &agent.GetCheckpoint{Key: last}, &agent.GetCheckpoint{Key: last, Revision: 1}, &agent.CheckpointHistory{Key: last},
		&agent.Thaw{Key: last}, &agent.GetThread{Thread: last}, &agent.LoadEntries{Thread: last}, &agent.VerifyThread{Thread: last},
	} {
		r.missing(agent.CodeNotFound, q)
	}
	r.refuse(agent.CodeMissingThread, pointing("other", last, 1))
	r.refuse(agent.CodeNotFound, &agent.ForkThread{Thread: last, NewThread: "fork"})
	r.refuse(agent.CodeNotFound, &agent.ForkAgent{Agent: last, NewAgent: "fork"})
	if e := r.refusal(agent.CodeDeleted, &agent.PutValue{Key: last, IfIncarnation: old}); e.Incarnation != old {
		t.Errorf("a late write is refused with incarnation %d, want %d", e.Incarnation, old)
	}
	if got := do[*agent.DeleteResult](r, &agent.DeleteCheckpoint{Key: last}); got.Existed {
		t.Error("a deleted checkpoint is deleted again")
	}
	// What is written now stays.
	r.keyed("x0003")
	for entries := 0; ; entries++ {
		_, wall := r.machine.Due()
		if wall == 0 || wall > r.wall {
			break
		}
		if r.pass(); entries > 50 {
			t.Fatal("it never ends")
		}
	}
	for _, id := range ids {
		if d := read[*agent.PrefixDeletion](r, &agent.GetDeletion{ID: id}); !d.Complete() || d.Removed != 6 {
			t.Errorf("the receipt is %+v", d)
		}
	}
	if got, want := len(r.listedKeys()), len(kept)+3; got != want {
		t.Errorf("%d keys are listed, want %d", got, want)
	}
	removed := map[string]int{}
	for _, c := range r.page(agent.DefaultScope, began-2, 0, "", 1000).Changes {
		if c.Deleted {
			removed[c.Path()]++
		}
	}
	if len(removed) != 18 || removed["values/x0003"] != 1 {
		t.Errorf("%d keys are in the feed: %v", len(removed), removed)
	}
	for range 3 { // the rest goes too, and nothing is left of it
		for _, kind := range deletedKinds {
			do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: kind, All: true})
		}
		r.settled()
	}
	for _, kind := range deletionRows {
		if n := r.rows(kind); n != 0 {
			t.Errorf("%d rows of kind %q are left", n, kind)
		}
	}
	if scope := read[*agent.Scope](r, &agent.GetScope{}); scope.Keys != 0 || scope.Bytes != 0 || scope.Threads != 0 || scope.Entries != 0 || scope.Agents != 0 {
		t.Errorf("the scope counts %+v", scope)
	}
}

// The changes that a deletion makes later have the principal of its commit too.
func TestTheChangesOfADeletionHaveItsPrincipal(t *testing.T) {
	r := newSubject(t)
	r.record()
	r.keyed(keysFrom("x", 3)...)
	began := r.index + 1
	d := r.batch(agent.Commit{Principal: "anna", Ops: []agent.Op{&agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "x"}}})[0]
	if d.Err != nil {
		t.Fatal(d.Err)
	}
	r.settled()
	changes := r.page(agent.DefaultScope, began, 0, "values/", 100).Changes
	if len(changes) != 3 || changes[2].Index == began {
		t.Fatalf("the feed has %+v", changes)
	}
	for _, c := range changes {
		if c.Principal != "anna" || !c.Deleted {
			t.Errorf("a change is %+v", c)
		}
	}
}

// A value that expires while it is deleted is counted once, and one that had expired before is not.
func TestADeletionCountsWhatItDeletes(t *testing.T) {
	r := newSubject(t)
	put := func(key string, ttl time.Duration) {
		do[*agent.ValueResult](r, &agent.PutValue{Key: key, TTL: ttl})
	}
	put("a", time.Hour)
	put("b", time.Second)
	put("c", 2*time.Second)
	put("d", 0)
	r.tick, r.wall = r.tick+1500, r.wall+1500 // b has expired, and may not be swept yet
	first := do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: agent.ChangedValue, All: true})
	second := do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: agent.ChangedValue, All: true})
	r.after(time.Second)
	put("d", 0)
	put("a", 0)
	r.settled()
	for _, d := range []struct {
		id   string
		want uint64
	}{{first.ID, 3}, {second.ID, 0}} {
		if got := read[*agent.PrefixDeletion](r, &agent.GetDeletion{ID: d.id}); !got.Complete() || got.Removed != d.want {
			t.Errorf("the receipt is %+v, want %d removed", got, d.want)
		}
	}
	if n := len(read[*agent.ValueList](r, &agent.ListValues{}).Items); n != 2 {
		t.Errorf("%d values are left, want 2", n)
	}
}

func TestAnEmptyPrefixIsRefusedWithoutAll(t *testing.T) {
	for _, op := range []*agent.DeletePrefix{
		{Kind: agent.ChangedValue},
		{Kind: agent.ChangedValue, Prefix: "a", All: true},
		{Kind: agent.ChangedMemory, Prefix: "a"},
		{Kind: agent.ChangedValue, Prefix: "a\x00"},
		{Kind: agent.ChangedValue, Prefix: "\xff"},
		{Prefix: "a"},
	} {
		c := agent.Commit{Ops: []agent.Op{op}}
		if err := c.Validate(); agent.CodeOf(err) != agent.CodeInvalid {
			t.Errorf("%+v: %v", op, err)
		}
	}
	long := agent.Commit{Ops: []agent.Op{&agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: strings.Repeat("x", agent.IDBytesMax+1)}}}
	if err := long.Validate(); agent.CodeOf(err) != agent.CodeTooLarge {
		t.Errorf("a long prefix: %v", err)
	}
}

// Another machine that restores a snapshot or restarts in the middle of a deletion goes on.
func TestADeletionGoesOnAfterASnapshotAndARestart(t *testing.T) {
	r := newSubject(t)
	r.record()
	r.keyed(keysFrom("x", 6)...)
	r.deletePrefix("x")
	r.pass()
	r.pass()
	middle := len(r.log)
	r.settled()

	fs := storage.MemFS()
	other := openPeer(t, fs)
	other.apply(t, r.log[:middle]...)
	other.snapshot(t, r.log[middle-1].Index, r.log[middle-1].Term)
	hidden := func(what string, p *peer) {
		t.Helper()
		view := p.View()
		defer view.Close()
		for _, q := range []agent.Read{&agent.GetValue{Key: "x0005"}, &agent.GetCheckpoint{Key: "x0005"}, &agent.GetThread{Thread: "x0005"}} {
			if a := view.Answer(agent.DefaultScope, q); agent.CodeOf(a.Err) != agent.CodeNotFound {
				t.Fatalf("%s: %T finds %+v, %v", what, q, a.Found, a.Err)
			}
		}
	}
	restored := openPeer(t, storage.MemFS())
	before := restored.View()
	defer before.Close()
	if err := restored.install(other); err != nil {
		t.Fatal(err)
	}
	hidden("after the snapshot", restored)
	restored.apply(t, r.log[middle:]...)
	other.close(t)
	other = openPeer(t, fs)
	other.apply(t, r.log[:middle]...)
	hidden("after the restart", other)
	other.apply(t, r.log[middle:]...)
	if want := r.hash(); restored.hash(t) != want || other.hash(t) != want {
		t.Fatal("three machines with the same log differ")
	}
}

func TestAScopeIsDeletedAndExportedAroundADeletion(t *testing.T) {
	r := newSubject(t)
	r.record()
	r.settled()
	r.keyed(keysFrom("x", 4)...)
	r.deletePrefix("x")
	view := r.machine.View()
	err := view.ExportScope(t.Context(), agent.DefaultScope, "cluster", r.machine.FeatureLevel(), func(agent.ScopePart) error { return nil })
	view.Close()
	if agent.CodeOf(err) != agent.CodeUnavailable || !strings.Contains(err.Error(), "under way") {
		t.Fatalf("an export in the middle: %v", err)
	}
	do[*agent.DeleteResult](r, &agent.DeleteScope{})
	r.keyed("x0001")
	r.settled()
	if got := r.listedKeys(); len(got) != 3 {
		t.Fatalf("the lists have %q", got)
	}
	if n := r.rows(kv.KindDeletion) + r.rows(kv.KindDeleting); n != 0 {
		t.Fatalf("%d rows of deletions are left", n)
	}
	r.deletePrefix("y")
	target := newSubject(t)
	target.record()
	target.settled()
	importInto(target, agent.DefaultScope, exportOf(r, agent.DefaultScope), 3)
	if got := target.listedKeys(); len(got) != 3 {
		t.Fatalf("the import has %q", got)
	}
	target.deletePrefix("x") // of incarnations of another cluster
	target.settled()
	if got := target.listedKeys(); len(got) != 0 {
		t.Fatalf("after a deletion the import has %q", got)
	}
}

// Lists by metadata leave out what is deleted, and its index rows go with it.
func TestADeletionHoldsInTheIndexOfMetadata(t *testing.T) {
	r := newSubject(t)
	r.record()
	user := agent.JSON(`{"user":"anna"}`)
	do[*agent.ScopeResult](r, &agent.IndexMetadata{Keys: []string{"user"}})
	r.settled()
	for _, key := range append(keysFrom("x", 4), "y") {
		do[*agent.CheckpointResult](r, &agent.PutValue{Key: key, Metadata: user}, &agent.PutCheckpoint{Key: key, Metadata: user})
	}
	r.deletePrefix("x")
	where := agent.Where{{Key: "user", Value: "anna"}}
	listed := func() (keys []string) {
		for _, row := range read[*agent.ValueList](r, &agent.ListValues{Where: where}).Items {
			keys = append(keys, row.Key)
		}
		for _, row := range read[*agent.CheckpointList](r, &agent.ListCheckpoints{Where: where}).Items {
			keys = append(keys, row.Key)
		}
		return keys
	}
	if got := listed(); !slices.Equal(got, []string{"y", "y"}) || r.rows(kv.KindMetadata) <= 2 {
		t.Fatalf("listed: %q of %d index rows", got, r.rows(kv.KindMetadata))
	}
	r.settled()
	if got := listed(); !slices.Equal(got, []string{"y", "y"}) || r.rows(kv.KindMetadata) != 2 {
		t.Fatalf("listed: %q of %d index rows", got, r.rows(kv.KindMetadata))
	}
}

// A deleted fork neither keeps its source from a compaction nor loses its rows to it.
func TestADeletedForkDoesNotHinderACompaction(t *testing.T) {
	r := newSubject(t)
	do[*agent.ThreadResult](r, appendTo("t", `{}`, `{}`, `{}`),
		&agent.ForkThread{Thread: "t", NewThread: "f1"}, &agent.ForkThread{Thread: "t", NewThread: "f2"}, &agent.ForkThread{Thread: "t", NewThread: "f3"},
		appendTo("t", `{}`, `{}`))
	r.refuse(agent.CodeConflict, &agent.CompactThread{Thread: "t", BeforeSeq: 4})
	do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: agent.ChangedThread, Prefix: "f"})
	do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "t", BeforeSeq: 4})
	if n := r.rows(kv.KindForkPin); n != 1 {
		t.Fatalf("%d forks are left, want one that is deleted and not removed", n)
	}
	r.settled()
	if n := r.rows(entryRows); n != 1 {
		t.Fatalf("%d entries are left, want 1", n)
	}
	if v := read[*agent.Verified](r, &agent.VerifyThread{Thread: "t"}); !v.OK {
		t.Fatal(v.Why)
	}
}

// A deleted checkpoint neither keeps a thread from a compaction nor from an erasure.
func TestADeletedCheckpointDoesNotPinAThread(t *testing.T) {
	r := newSubject(t)
	do[*agent.CheckpointResult](r, appendTo("t", `{}`, `{}`), pointing("a", "t", 2))
	for i := range 4 {
		do[*agent.CheckpointResult](r, pointing(fmt.Sprintf("c%d", i), "t", 1))
	}
	r.refuse(agent.CodeConflict, &agent.CompactThread{Thread: "t", BeforeSeq: 2})
	do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: agent.ChangedCheckpoint, Prefix: "c"})
	do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "t", BeforeSeq: 2})
	if n := r.rows(kv.KindPin); n != 3 {
		t.Fatalf("%d checkpoints are left, want two that are deleted and not removed", n-1)
	}
	r.settled()
	do[*agent.ThreadResult](r, appendTo("t", `{}`))
	for i := range 4 {
		do[*agent.CheckpointResult](r, pointing(fmt.Sprintf("c%d", i), "t", 3))
	}
	do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: agent.ChangedCheckpoint, Prefix: "c"})
	if e := do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"}); e.Threads != 1 || e.Kept != 0 {
		t.Fatalf("the erasure is %+v", e)
	}
	if n := r.rows(kv.KindPin); n != 2 {
		t.Fatalf("%d checkpoints are left, want two", n)
	}
}

// A reader never sees a part of a deletion, whatever the machine applies meanwhile.
func TestADeletionIsAtomicForReaders(t *testing.T) {
	r := newSubject(t)
	const keys, rounds, readers = 8, 60, 3
	done := make(chan struct{})
	var reading sync.WaitGroup
	for range readers {
		reading.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				view := r.machine.View()
				a := view.Answer(agent.DefaultScope, &agent.ListValues{Page: agent.Page{Prefix: "x"}})
				if list, ok := a.Found.(*agent.ValueList); !ok || len(list.Items) != 0 && len(list.Items) != keys {
					t.Errorf("at entry %d a reader sees %+v, %v", view.Index(), a.Found, a.Err)
				}
				view.Close()
			}
		})
	}
	var puts []agent.Op
	for _, key := range keysFrom("x", keys) {
		puts = append(puts, &agent.PutValue{Key: key})
	}
	for n := range rounds {
		do[*agent.ValueResult](r, puts...)
		do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "x"})
		for range n % (keys + 2) { // the writes of the next round come in the middle, or after the end
			r.pass()
		}
	}
	close(done)
	reading.Wait()
}
