package fsm_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/fsm"
	"dormouse/fsm/txn"
	"dormouse/storage"
)

// found compares the rows of the conversation indexes with a count of the conversations.
func found(t rapid.TB, r *subject) (stale, lacking []string, all bool) {
	t.Helper()
	view := r.machine.View()
	defer view.Close()
	stale, lacking, all, err := view.Found()
	if err != nil {
		t.Fatal(err)
	}
	if len(stale)+len(lacking) > 0 {
		t.Fatalf("at entry %d rows stand for nothing, %q, or lack, %q", r.index, stale, lacking)
	}
	return stale, lacking, all
}

// finder is a cluster that starts to index its conversations at some moment, with the model of it.
type finder struct {
	*subject
	t      *rapid.T
	model  memstore.ConversationModel
	sealed map[string]int64
	erased map[string]uint64 // :: agent → conversations that its newest receipt must count
	before int               // number of conversations at the start
	raised bool
}

func newFinder(tb testing.TB, t *rapid.T) *finder {
	tb.Helper()
	f := &finder{
		subject: openSubject(tb, fsm.Options{Dir: "state", FS: storage.MemFS()}),
		t:       t, model: memstore.ConversationModel{}, sealed: map[string]int64{}, erased: map[string]uint64{},
		before: rapid.SampledFrom([]int{0, 3, 3, agent.ConversationsFoundMax, agent.ConversationsFoundMax + 1, 700}).Draw(t, "before"),
	}
	var ops []agent.Op
	for i := range f.before {
		ref := agent.ConversationRef{ID: f.id(i), Agent: []string{"x", "x", "y", ""}[i%4], Owner: []string{"x", ""}[i%2]}
		ops = append(ops, &agent.PendMessage{ConversationRef: ref, Message: agent.JSON(`{}`)})
	}
	for len(ops) > 0 {
		n := min(len(ops), agent.CommitOpsMax)
		d := f.batch(agent.Commit{Ops: ops[:n]})[0]
		if d.Err != nil {
			t.Fatal(d.Err)
		}
		for i, op := range ops[:n] {
			judgeTalk(t, f.model, op, agent.Decided{Result: agent.Result{Results: d.Result.Results[i : i+1]}}, f.wall, f.sealed)
		}
		ops = ops[n:]
	}
	return f
}

// id returns the id of a conversation that existed at the start. These sort between and around
// those that ops create.
func (f *finder) id(i int) string { return fmt.Sprintf("%c%04d", "Abz"[i%3], i) }

// raise raises the level, in an entry that may have an op too.
func (f *finder) raise() {
	commits := [][]byte{f.machine.EncodeFeatureLevel(txn.FoundLevel)}
	op := f.draw()
	if rapid.Bool().Draw(f.t, "with an op") {
		commits = append(commits, f.encode(agent.Commit{Ops: []agent.Op{op}})...)
	}
	for i, d := range f.feed(commits) {
		if i > 0 {
			judgeTalk(f.t, f.model, op, d, f.wall, f.sealed)
		} else if d.Err != nil {
			f.t.Fatal(d.Err)
		}
	}
	f.raised = true
}

// draw draws an op on a conversation, possibly one from the start.
func (f *finder) draw() agent.Op {
	if f.before > 0 && rapid.Bool().Draw(f.t, "an old one") {
		ref := agent.ConversationRef{ID: f.id(rapid.IntRange(0, f.before-1).Draw(f.t, "which"))}
		if rapid.IntRange(0, 2).Draw(f.t, "goes") == 0 {
			return &agent.DeleteConversation{ConversationRef: ref}
		}
		ref.Agent, ref.Owner = talkers.Draw(f.t, "agent"), talkers.Draw(f.t, "owner")
		return &agent.PendMessage{ConversationRef: ref, Message: agent.JSON(`{"text":"more"}`)}
	}
	for {
		if op := drawTalk(f.t, f.model); !isTTL(op) { // TestConversationsDoAsTheModelSays has those
			return op
		}
	}
}

func isTTL(op agent.Op) bool {
	_, is := op.(*agent.SetTTL)
	return is
}

func (f *finder) erase() {
	name := rapid.SampledFrom([]string{"x", "y"}).Draw(f.t, "erased")
	receipt := do[*agent.Erasure](f.subject, &agent.EraseAgent{Agent: name})
	if !f.raised {
		if receipt.Conversations != nil || !receipt.Complete() {
			f.t.Fatalf("below the level it says %+v", receipt)
		}
		return
	}
	if receipt.Index == f.index {
		f.erased[name] = 0
	}
	for id, c := range f.model {
		if c.Agent == name {
			delete(f.model, id)
			f.erased[name]++
		}
	}
}

func (f *finder) step() {
	switch n := rapid.IntRange(0, 9).Draw(f.t, "step"); {
	case n == 0 && !f.raised:
		f.raise()
	case n <= 2:
		f.after(time.Duration(rapid.IntRange(0, 1).Draw(f.t, "ms")) * time.Millisecond).pass()
	case n == 3:
		f.erase()
	case n == 4 && rapid.IntRange(0, 4).Draw(f.t, "all goes") == 0:
		do[*agent.DeleteResult](f.subject, &agent.DeleteScope{})
		clear(f.model)
		clear(f.sealed)
		clear(f.erased)
	default:
		op := f.draw()
		judgeTalk(f.t, f.model, op, f.batch(agent.Commit{Ops: []agent.Op{op}})[0], f.wall, f.sealed)
	}
	f.look()
}

// look compares the indexes with the conversations.
func (f *finder) look() {
	_, _, all := found(f.t, f.subject)
	for _, q := range []*agent.ListConversations{{Agent: "x"}, {Agent: "y"}, {Owner: "x"}, {Page: agent.Page{Prefix: "a"}, Agent: "x"}} {
		got := f.answer(q)
		if !all {
			if got.Err == nil || got.Err.Code != agent.CodeUnavailable {
				f.t.Fatalf("%+v before all are found: %+v, %v", q, got.Found, got.Err)
			}
			continue
		}
		want, _, _ := f.model.Read(q)
		if diff := cmp.Diff(want, got.Found, cmpopts.EquateEmpty()); diff != "" {
			f.t.Fatalf("%+v (-model +machine):\n%s", q, diff)
		}
	}
}

// finish feeds entries until all pending work is done.
func (f *finder) finish() {
	for range 100 {
		if _, wall := f.machine.Due(); wall == 0 || wall > f.wall {
			break
		}
		f.pass()
	}
	if _, _, all := found(f.t, f.subject); all != f.raised {
		f.t.Fatalf("raised: %v, all are found: %v", f.raised, all)
	}
	for name, want := range f.erased {
		receipt := read[*agent.Erasure](f.subject, &agent.GetErasure{Agent: name})
		if !receipt.Complete() || receipt.Conversations == nil || *receipt.Conversations != want {
			f.t.Fatalf("agent %s had %d conversations, the receipt says %+v", name, want, receipt)
		}
	}
	sameTalk(f.t, f.subject, f.model)
}

// For any moment of the level's rise, and any ops during the backfill, the indexes equal a count of
// the conversations. Nothing of an erased agent appears again. A machine that applies the same log,
// or a snapshot and the rest, has the same state.
func TestWhatFindsConversationsIsACountOfThem(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFinder(t, rt)
		defer f.close()
		f.look()
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			f.step()
		}
		f.finish()
		if len(f.log) == 0 {
			return
		}
		at := rapid.IntRange(1, len(f.log)).Draw(rt, "snapshot at")
		again, restored := openPeer(t, storage.MemFS()), openPeer(t, storage.MemFS())
		defer again.close(t)
		defer restored.close(t)
		again.apply(t, f.log[:at]...)
		again.snapshot(t, uint64(at), f.log[at-1].Term)
		if err := restored.install(again); err != nil {
			rt.Fatal(err)
		}
		again.apply(t, f.log[at:]...)
		restored.apply(t, f.log[at:]...)
		if want := f.hash(); again.hash(t) != want || restored.hash(t) != want {
			rt.Fatalf("a machine with the same log, or one from a snapshot at entry %d on, differs", at)
		}
	})
}
