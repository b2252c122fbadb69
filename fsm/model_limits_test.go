package fsm_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/agent/quota"
	"dormouse/fsm"
	"dormouse/fsm/txn"
	"dormouse/storage"
)

// counted compares the counts of a scope with a count of its rows. all reports that all rows count.
func counted(t rapid.TB, r *subject, scope string) (all bool) {
	t.Helper()
	view := r.machine.View()
	defer view.Close()
	want, all, err := view.Recounted(scope)
	if err != nil {
		t.Fatal(err)
	}
	answer := view.Answer(scope, &agent.GetScope{})
	got, ok := answer.Found.(*agent.Scope)
	if !ok {
		got = &agent.Scope{}
	}
	if answer.Err != nil && answer.Err.Code != agent.CodeNotFound {
		t.Fatal(answer.Err)
	}
	if got.Agents != want.Agents || got.Threads != want.Threads || got.Entries != want.Entries || got.Timers != want.Timers {
		t.Fatalf("entry %d: scope %q counts %d agents, %d threads, %d entries, %d timers; its rows are %d, %d, %d, %d", r.index, scope,
			got.Agents, got.Threads, got.Entries, got.Timers, want.Agents, want.Threads, want.Entries, want.Timers)
	}
	return all
}

// drawCounted draws an op that changes what is counted. Names are few, so that ops meet.
func drawCounted(t *rapid.T, r *subject) agent.Op {
	name := func(label string) string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, label) }
	ttl := rapid.SampledFrom([]time.Duration{0, 0, 0, time.Second}).Draw(t, "ttl")
	seal := rapid.SampledFrom([]time.Duration{0, 0, time.Second}).Draw(t, "seal")
	id := name("id")
	switch rapid.IntRange(0, 25).Draw(t, "op") {
	case 24, 25:
		return drawDeletion(t)
	case 0, 1, 2:
		return &agent.AppendThread{Thread: id, Entries: drafts(`{}`, `{"n":1}`)[:rapid.IntRange(0, 2).Draw(t, "entries")]}
	case 3, 4:
		return &agent.ForkThread{Thread: id, NewThread: name("fork")}
	case 5, 6:
		return &agent.CompactThread{Thread: id, BeforeSeq: uint64(rapid.IntRange(0, 6).Draw(t, "before"))}
	case 7:
		return &agent.HibernateThread{Thread: id, Rev: 1, Entries: drafts(`{}`)}
	case 8:
		return &agent.DeleteThread{Thread: id, Seal: seal}
	case 9:
		return &agent.SetTTL{Thread: id, TTL: time.Second}
	case 10, 11:
		return &agent.PutCheckpoint{Key: id, State: agent.JSON(`{}`), TTL: ttl}
	case 12:
		return &agent.DeleteCheckpoint{Key: id, Seal: seal}
	case 13, 14:
		return &agent.WriteMemory{Agent: id, ID: name("memory"), Content: "tea", TTL: ttl}
	case 15:
		return &agent.DeleteMemory{Agent: id, ID: name("memory"), Seal: seal}
	case 16:
		return &agent.PutSession{Session: id, Agent: name("agent"), SessionSettings: agent.SessionSettings{Thread: name("thread"), Checkpoint: name("checkpoint")}}
	case 17:
		return &agent.DeleteSession{Session: id, Seal: seal}
	case 18:
		return &agent.PendMessage{ConversationRef: agent.ConversationRef{ID: id, Agent: rapid.SampledFrom([]string{"", "a", "d"}).Draw(t, "agent")}, Message: agent.JSON(`{}`)}
	case 19:
		return &agent.DeleteConversation{ConversationRef: agent.ConversationRef{ID: id}, Seal: seal}
	case 20:
		return once(id, r.wall+1+int64(rapid.IntRange(0, 1000).Draw(t, "at")))
	case 21:
		return &agent.DeleteTimer{Manager: "m", Key: "k", ID: id}
	case 22:
		return &agent.EraseAgent{Agent: id}
	default:
		return &agent.ForkAgent{Agent: id, NewAgent: name("agent"), NewThread: name("fork")}
	}
}

// For any ops, and any moment at which the level rises, the counts of a scope are those of its rows
// that the backfill is past. They are the same after an import, and a machine that applies the same
// log has the same state.
func TestEachCountOfAScopeIsACountOfItsRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := openSubject(t, fsm.Options{Dir: "state", FS: storage.MemFS()})
		defer r.close()
		r.raise(uint32(rapid.IntRange(1, int(txn.LimitsLevel)-1).Draw(rt, "level before")))
		raised := false
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch n := rapid.IntRange(0, 14).Draw(rt, "step"); {
			case n == 0 && !raised:
				r.record()
				raised = true
			case n == 1:
				r.after(time.Duration(rapid.IntRange(0, 1200).Draw(rt, "ms")) * time.Millisecond).pass()
			case n == 2 && rapid.IntRange(0, 9).Draw(rt, "all goes") == 0:
				do[*agent.DeleteResult](r, &agent.DeleteScope{})
			default:
				ops := []agent.Op{drawCounted(rt, r)}
				for range rapid.IntRange(0, 2).Draw(rt, "more ops") {
					ops = append(ops, drawCounted(rt, r))
				}
				if c := (agent.Commit{Ops: ops}); c.Validate() == nil {
					r.batch(c)
				}
			}
			counted(rt, r, agent.DefaultScope)
		}
		if !raised {
			r.record()
		}
		for range 60 {
			r.pass()
			counted(rt, r, agent.DefaultScope)
		}
		if !counted(rt, r, agent.DefaultScope) {
			rt.Fatal("some rows do not count yet")
		}
		if r.answer(&agent.GetScope{}).Err == nil {
			imported(rt, r)
		}
		again := openPeer(t, storage.MemFS())
		defer again.close(t)
		again.apply(t, r.log...)
		if again.hash(t) != r.hash() {
			rt.Fatal("a machine with the same log has another state")
		}
	})
}

// imported moves the scope, and compares the counts of both.
func imported(t *rapid.T, r *subject) {
	e := exportOf(r, agent.DefaultScope)
	importInto(r, "copy", e, rapid.IntRange(1, 9).Draw(t, "rows of a chunk"))
	counted(t, r, "copy")
	of := func(scope string) [quota.Count]uint64 {
		view := r.machine.View()
		defer view.Close()
		found, ok := view.Answer(scope, &agent.GetScope{}).Found.(*agent.Scope)
		if !ok {
			t.Fatalf("there is no scope %q", scope)
		}
		return quota.Usage(found)
	}
	if was, is := of(agent.DefaultScope), of("copy"); was != is {
		t.Fatalf("the scope had %v, and its import has %v", was, is)
	}
}
