package stores_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"dormouse/agent"
	"dormouse/client/stores"
	"dormouse/node/nodetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// want fails the test unless err has the code; "" means no error.
func want(t *testing.T, err error, code agent.Code) {
	t.Helper()
	if agent.CodeOf(err) != code {
		t.Errorf("error %v, want %q", err, code)
	}
}

func note(content string) agent.Draft {
	return agent.Draft{Kind: agent.KindMessage, Payload: agent.JSON(fmt.Sprintf(`{"content":%q}`, content))}
}

func contents(entries []agent.Entry) string {
	var all []string
	for _, e := range entries {
		all = append(all, strings.TrimSuffix(strings.TrimPrefix(string(e.Payload), `{"content":"`), `"}`))
	}
	return strings.Join(all, " ")
}

func TestCheckpointsComeBackAndAreGuarded(t *testing.T) {
	ctx := t.Context()
	var store stores.Checkpointer = stores.Checkpoints{Scope: nodetest.Start(t).Scope}
	_, err := store.Get(ctx, "a")
	want(t, err, agent.CodeNotFound)
	for i, state := range []string{`{"n":1}`, `{"n":2}`} {
		if revision, err := store.Put(ctx, "a", agent.JSON(state)); err != nil || revision != uint64(i+1) {
			t.Errorf("put %d is revision %d: %v", i, revision, err)
		}
	}
	_, err = store.PutAt(ctx, "a", agent.JSON(`{}`), 1)
	want(t, err, agent.CodeRevisionMismatch)
	_, err = store.PutAt(ctx, "a", agent.JSON(`{"n":3}`), 2)
	want(t, err, "")
	_, err = store.PutAt(ctx, "b", agent.JSON(`{}`), 0)
	want(t, err, "")
	got, err := store.Get(ctx, "a")
	if err != nil || string(got.State) != `{"n":3}` || got.Revision != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	want(t, store.Delete(ctx, "a"), "")
	want(t, store.Delete(ctx, "a"), "")
	_, err = store.At(ctx, "a", 2)
	want(t, err, agent.CodeNotFound)
}

func TestAnOlderRevisionIsKeptWhereThePolicySaysSo(t *testing.T) {
	ctx := t.Context()
	c := nodetest.Start(t)
	if _, err := c.PutScope(ctx, agent.Policy{History: 2}); err != nil {
		t.Fatal(err)
	}
	store := stores.Checkpoints{Scope: c.Scope}
	for _, state := range []string{`{"n":1}`, `{"n":2}`} {
		_, err := store.Put(ctx, "a", agent.JSON(state))
		want(t, err, "")
	}
	if got, err := store.At(ctx, "a", 1); err != nil || string(got.State) != `{"n":1}` {
		t.Errorf("%+v, %v", got, err)
	}
}

// Lists continue over pages, and only as far as they are read.
func TestListsGoThroughAllPages(t *testing.T) {
	ctx := t.Context()
	c := nodetest.Start(t)
	store := stores.Checkpoints{Scope: c.Scope}
	const rows = agent.ListLimitDefault*2 + 1
	var ops []agent.Op
	for i := range rows {
		ops = append(ops, &agent.PutCheckpoint{Key: fmt.Sprintf("a/%03d", i), State: agent.JSON(`{}`)})
	}
	ops = append(ops, &agent.PutCheckpoint{Key: "b", State: agent.JSON(`{}`)})
	if _, err := c.Apply(ctx, ops...); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for row, err := range store.List(ctx, "a/") {
		if err != nil || row.Key != fmt.Sprintf("a/%03d", seen) {
			t.Fatalf("row %d is %s: %v", seen, row.Key, err)
		}
		seen++
	}
	if seen != rows {
		t.Errorf("%d rows of %d", seen, rows)
	}
	for _, err := range store.List(ctx, strings.Repeat("x", agent.IDBytesMax+1)) {
		want(t, err, agent.CodeTooLarge)
	}
	for _, err := range store.List(ctx, "") {
		want(t, err, "")
		break
	}
}

// Save overwrites, append creates and never conflicts.
func TestTheOlderThreadStore(t *testing.T) {
	ctx := t.Context()
	var store stores.ThreadStore = stores.Threads{Scope: nodetest.Start(t).Scope}
	_, _, err := store.Load(ctx, "t")
	want(t, err, agent.CodeNotFound)

	first, err := store.Append(ctx, "t", note("a"), note("b"), note("c"))
	if err != nil || first.Rev != 3 {
		t.Fatalf("%+v, %v", first, err)
	}
	saved, err := store.Save(ctx, "t", []agent.Draft{note("x"), note("y")}, agent.JSON(`{"of":"save"}`))
	if err != nil || saved.Rev != 2 || saved.Incarnation <= first.Incarnation {
		t.Fatalf("%+v, %v", saved, err)
	}
	thread, entries, err := store.Load(ctx, "t")
	if err != nil || contents(entries) != "x y" || string(thread.Metadata) != `{"of":"save"}` || thread.Incarnation != saved.Incarnation {
		t.Errorf("%+v, %s, %v", thread, contents(entries), err)
	}
	if _, err = store.Save(ctx, "t", nil, nil); err != nil {
		t.Fatal(err)
	}
	if thread, entries, err = store.Load(ctx, "t"); err != nil || thread.Rev != 0 || len(entries) != 0 {
		t.Errorf("saved empty it is %+v, %s, %v", thread, contents(entries), err)
	}
	_, err = store.Save(ctx, "t", make([]agent.Draft, agent.CommitEntriesMax+1), nil)
	want(t, err, agent.CodeTooLarge)
}

// A refused save deletes nothing.
func TestASaveThatIsRefusedLeavesWhatWasThere(t *testing.T) {
	ctx := t.Context()
	store := stores.Threads{Scope: nodetest.Start(t).Scope}
	_, err := store.Append(ctx, "t", note("a"))
	want(t, err, "")
	twice := agent.Draft{ID: "same", Payload: agent.JSON(`{"n":1}`)}
	other := agent.Draft{ID: "same", Payload: agent.JSON(`{"n":2}`)}
	_, err = store.Save(ctx, "t", []agent.Draft{twice, other}, nil)
	want(t, err, agent.CodeDuplicateEntry)
	_, entries, err := store.Load(ctx, "t")
	want(t, err, "")
	if contents(entries) != "a" {
		t.Errorf("it holds %q", contents(entries))
	}
}

func TestThreadsAreCheckedTailedListedAndDeleted(t *testing.T) {
	ctx := t.Context()
	var store stores.ThreadStore = stores.Threads{Scope: nodetest.Start(t).Scope}
	_, err := store.AppendAt(ctx, "t", 0, note("a"), note("b"))
	want(t, err, "")
	_, err = store.AppendAt(ctx, "t", 1, note("no"))
	want(t, err, agent.CodeConflict)
	_, err = store.AppendAt(ctx, "t", 2, note("c"))
	want(t, err, "")
	thread, entries, err := store.Tail(ctx, "t", 2)
	if err != nil || thread.Rev != 3 || contents(entries) != "b c" {
		t.Errorf("%+v, %s, %v", thread, contents(entries), err)
	}
	_, _, err = store.Tail(ctx, "t", 0)
	want(t, err, agent.CodeInvalid)
	for listed, err := range store.List(ctx, "t") {
		if err != nil || listed.ID != "t" || listed.Rev != 3 {
			t.Errorf("%+v, %v", listed, err)
		}
	}
	want(t, store.Delete(ctx, "t"), "")
	want(t, store.Delete(ctx, "t"), "")
	_, _, err = store.Load(ctx, "t")
	want(t, err, agent.CodeNotFound)
}

// A thread of several pages is loaded completely. A thread that is saved again
// meanwhile is never mixed.
func TestALoadIsOfOneMoment(t *testing.T) {
	ctx := t.Context()
	store := stores.Threads{Scope: nodetest.Start(t).Scope}
	fill := func(word string) error {
		drafts := make([]agent.Draft, agent.CommitEntriesMax)
		for i := range drafts {
			drafts[i] = note(word)
		}
		_, err := store.Save(ctx, "t", drafts, nil)
		if err == nil {
			_, err = store.Append(ctx, "t", drafts...)
		}
		return err
	}
	want(t, fill("w0"), "")
	var saving sync.WaitGroup
	saving.Go(func() {
		for i := range 10 {
			want(t, fill(fmt.Sprintf("w%d", i+1)), "")
		}
	})
	defer saving.Wait()
	for range 20 {
		thread, entries, err := store.Load(ctx, "t")
		want(t, err, "")
		words := map[string]bool{}
		for _, word := range strings.Fields(contents(entries)) {
			words[word] = true
		}
		if len(words) != 1 || uint64(len(entries)) != thread.Rev {
			t.Errorf("%d entries at rev %d, of %v", len(entries), thread.Rev, words)
		}
	}
}

// The scope's fence applies to all writes of a store, including saves.
func TestStoresWriteUnderTheirScopesFence(t *testing.T) {
	ctx := t.Context()
	c := nodetest.Start(t)
	mine, err := c.TakeClaim(ctx, agent.TakeClaim{Claim: "job", Holder: "w1"})
	if err != nil {
		t.Fatal(err)
	}
	under := c.Under(mine)
	_, err = stores.Threads{Scope: under}.Save(ctx, "t", []agent.Draft{note("a")}, nil)
	want(t, err, "")
	if _, err := c.ReleaseClaim(ctx, agent.ReleaseClaim{Claim: "job", Holder: "w1", Epoch: mine.Epoch}); err != nil {
		t.Fatal(err)
	}
	_, err = stores.Threads{Scope: under}.Save(ctx, "t", nil, nil)
	want(t, err, agent.CodeFenced)
	_, err = stores.Checkpoints{Scope: under}.Put(ctx, "a", agent.JSON(`{}`))
	want(t, err, agent.CodeFenced)
	_, err = stores.Memories{Scope: under}.Write(ctx, agent.WriteMemory{Agent: "a", Content: "x"})
	want(t, err, agent.CodeFenced)
}

func TestMemoriesAreWrittenRecalledAndForgotten(t *testing.T) {
	ctx := t.Context()
	var store stores.MemoryStore = stores.Memories{Scope: nodetest.Start(t).Scope}
	var ids []string
	for _, content := range []string{"likes tea", "lives in Ulm"} {
		id, err := store.Write(ctx, agent.WriteMemory{Agent: "a", Content: content})
		want(t, err, "")
		ids = append(ids, id)
	}
	found, err := store.Recall(ctx, agent.Recall{Agent: "a", Query: "anything"})
	if err != nil || len(found) != 2 || found[0].Memory.ID != ids[1] {
		t.Errorf("%+v, %v", found, err)
	}
	got, err := store.Get(ctx, "a", ids[0])
	if err != nil || got.Content != "likes tea" {
		t.Errorf("%+v, %v", got, err)
	}
	listed := 0
	for _, err := range store.List(ctx, "a") {
		want(t, err, "")
		listed++
	}
	if listed != 2 {
		t.Errorf("%d are listed", listed)
	}
	want(t, store.Forget(ctx, "a", ids[0]), "")
	want(t, store.Forget(ctx, "a", ids[0]), "")
	_, err = store.Get(ctx, "a", ids[0])
	want(t, err, agent.CodeNotFound)
}
