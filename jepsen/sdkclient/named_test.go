package sdkclient_test

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/sdkclient"
)

// makeTurns makes the calls of one op or read that makeCalls does not make, and compares what they did.
func makeTurns(t *testing.T, client *sdkclient.Client, store agent.Service, scope string) {
	t.Helper()
	lease, epoch, one := "", uint64(0), uint64(1)
	for i, step := range []struct {
		op   func() agent.Op
		code agent.Code
	}{
		{func() agent.Op {
			return &agent.PutSession{Session: "x/1", Agent: "a", SessionSettings: agent.SessionSettings{Thread: "st"}, Metadata: agent.JSON(`{"m":"é"}`)}
		}, ""},
		{func() agent.Op {
			return &agent.ClaimSession{Session: "x/1", Owner: "o", TTL: time.Minute, Request: &agent.SessionRequest{ID: "r1", Input: agent.JSON(`"in"`), Metadata: agent.JSON(`{"q":1}`)}}
		}, ""},
		{func() agent.Op {
			return &agent.ClaimSession{Session: "x/1", Owner: "p", Request: &agent.SessionRequest{ID: "r2"}}
		}, agent.CodeSessionAlreadyRunning},
		{func() agent.Op { return &agent.RenewSession{Session: "x/1", LeaseID: lease, Owner: "o"} }, ""},
		{func() agent.Op {
			return &agent.CheckpointSession{Session: "x/1", LeaseID: lease, Owner: "o", Snapshot: agent.SessionSnapshot{ID: "s1", Cursor: agent.Cursor{Phase: agent.PhaseWait, Metadata: agent.JSON(`{}`)}, Metadata: agent.JSON(`{}`), TurnState: agent.JSON(`{"t":1}`)}}
		}, ""},
		{func() agent.Op {
			return &agent.CommitSession{Session: "x/1", LeaseID: lease, Owner: "o", Status: agent.SessionWaiting, RequestID: "r1", Reviews: []agent.ReviewDraft{{ID: "v", Operation: "act", Arguments: agent.JSON(`{"n":1}`), Metadata: agent.JSON(`{"r":1}`)}}}
		}, ""},
		{func() agent.Op { return &agent.DecideReview{Review: "v", Decision: agent.DecideApprove, By: "me"} }, ""},
		{func() agent.Op { return &agent.DecideReview{Review: "v", Decision: agent.DecideDeny, By: "me"} }, agent.CodeReviewDecided},
		{func() agent.Op { return &agent.ResumeSession{Session: "x/1", Owner: "o", TTL: time.Minute} }, ""},
		{func() agent.Op { return &agent.RecoverSession{Session: "x/1", Owner: "o"} }, agent.CodeSessionLeaseActive},
		{func() agent.Op {
			return &agent.CommitSession{Session: "x/1", LeaseID: lease, Owner: "o", Status: agent.SessionFinished, Result: agent.JSON(`"done"`), Conversation: &agent.Conversation{AgentState: agent.JSON(`{}`), ContinuationRevision: 1, TurnCount: 1, LastCompletedRequestID: "r1", ContextState: agent.JSON(`{}`)}}
		}, ""},
		{func() agent.Op { return &agent.ForkThread{Thread: "t", NewThread: "t2"} }, ""},
		{func() agent.Op { return &agent.ForkSession{Session: "x/1", NewSession: "y", Snapshot: "s1"} }, ""},
		{func() agent.Op { return &agent.DeleteSession{Session: "y", IfRevision: &one, IfIncarnation: 1 << 40} }, agent.CodeDeleted},
		{func() agent.Op { return &agent.DeleteSession{Session: "y", Seal: time.Second} }, ""},
		{func() agent.Op { return &agent.TakeClaim{Claim: "n", Holder: "h", TTL: time.Minute} }, ""},
		{func() agent.Op { return &agent.TakeClaim{Claim: "n", Holder: "i"} }, agent.CodeAlreadyClaimed},
		{func() agent.Op { return &agent.RenewClaim{Claim: "n", Holder: "h", Epoch: epoch, TTL: time.Minute} }, ""},
		{func() agent.Op { return &agent.ReleaseClaim{Claim: "n", Holder: "h", Epoch: epoch, To: "i"} }, ""},
		{func() agent.Op { return &agent.ReleaseClaim{Claim: "n", Holder: "i", Epoch: epoch} }, ""},
		{func() agent.Op {
			return &agent.WriteMemory{Agent: "a", ID: "m/1", Content: "the <é> tea", Tags: []string{"t"}}
		}, ""},
		{func() agent.Op {
			return &agent.WriteMemory{Agent: "a", ID: "m/1", Content: "no", IfRevision: new(uint64)}
		}, agent.CodeRevisionMismatch},
		{func() agent.Op { return &agent.WriteMemory{Agent: "a", ID: "gone", Content: "no"} }, ""},
		{func() agent.Op { return &agent.DeleteMemory{Agent: "a", ID: "gone"} }, ""},
		{func() agent.Op { return &agent.PatchCheckpoint{Key: "c", Patch: agent.JSON(`{"z":2}`)} }, ""},
		{func() agent.Op { return &agent.PatchCheckpoint{Key: "d", Patch: agent.JSON(`{"m":2}`), Upsert: true} }, ""},
		{func() agent.Op { return &agent.DeleteCheckpoint{Key: "d", IfRevision: new(uint64(9))} }, agent.CodeRevisionMismatch},
		{func() agent.Op { return &agent.DeleteCheckpoint{Key: "d"} }, ""},
		{func() agent.Op { return &agent.DeleteThread{Thread: "t2", Seal: time.Second} }, ""},
		{func() agent.Op {
			return &agent.PutManager{Manager: agent.Manager{Name: "mg", Handler: agent.Handler{Kind: agent.HandlerDocument}}}
		}, ""},
		{func() agent.Op {
			return &agent.PutTimer{Timer: agent.Timer{Manager: "mg", Key: "k", ID: "w", Next: time.Now().Add(time.Hour).UnixMilli()}}
		}, ""},
		{func() agent.Op { return &agent.DeleteTimer{Manager: "mg", Key: "k", ID: "w"} }, ""},
		{func() agent.Op {
			return &agent.SaveConversation{ConversationRef: agent.ConversationRef{ID: "cv"}, State: agent.JSON(`{"version":1,"state":{}}`), Lifecycle: agent.LifecycleCompletion}
		}, ""},
	} {
		op := step.op()
		result, err := client.Commit(t.Context(), agent.Commit{Scope: scope, Ops: []agent.Op{op}})
		if agent.CodeOf(err) != step.code {
			t.Errorf("%s, op %d, %T: %v, want %q", scope, i, op, err, step.code)
		}
		switch r := first(result).(type) {
		case *agent.SessionResult:
			if r.Session.Lease != nil {
				lease = r.Session.Lease.LeaseID
			}
		case *agent.ClaimResult:
			epoch = r.Claim.Epoch
		}
	}
	for _, read := range []agent.Read{
		&agent.GetSession{Session: "x/1"}, &agent.GetSession{Session: "y"}, &agent.GetReview{Review: "v"}, &agent.GetMemory{Agent: "a", ID: "m/1"}, &agent.GetMemory{Agent: "a", ID: "gone"},
		&agent.Recall{Agent: "a", Mode: agent.ModeText, Query: "tea"}, &agent.GetClaim{Claim: "n"}, &agent.GetCheckpoint{Key: "c"}, &agent.GetCheckpoint{Key: "d"}, &agent.GetThread{Thread: "t"},
		&agent.ListTimers{Manager: "mg"}, &agent.ListTimers{Manager: "mg", Key: "k"}, &agent.ListValues{Page: agent.Page{Prefix: "k/", Limit: 1}}, &agent.ListThreads{Page: agent.Page{Order: agent.Descending}},
		&agent.ListReviews{Session: "x/1"}, &agent.CheckpointHistory{Key: "c"}, &agent.Thaw{Key: "c", Tail: new(uint64(1))}, &agent.Thaw{Key: "gone"},
		&agent.GetValue{Key: "k/1"}, &agent.GetValue{Key: "l"}, &agent.LoadEntries{Thread: "t", From: 1, Limit: 1}, &agent.LoadEntries{Thread: "t", Tail: 1}, &agent.LoadEntries{Thread: "no"},
	} {
		reads := agent.Reads{Scope: scope, Reads: []agent.Read{read}}
		got, err := client.Read(t.Context(), reads)
		want, wanted := store.Read(t.Context(), reads)
		if err != nil || wanted != nil {
			t.Errorf("%s, %T: %v, %v", scope, read, err, wanted)
			continue
		}
		bare(got.Answers[0].Found)
		bare(want.Answers[0].Found)
		if g, w := got.Answers[0], want.Answers[0]; !reflect.DeepEqual(g.Found, w.Found) || (g.Err == nil) != (w.Err == nil) || g.Err != nil && g.Err.Code != w.Err.Code {
			t.Errorf("%s, %+v: got %+v, %v, want %+v, %v", scope, read, g.Found, g.Err, w.Found, w.Err)
		}
	}
}

// bare removes what a library's method for the read does not tell.
func bare(found agent.Found) {
	switch f := found.(type) {
	case *agent.Value:
		*f = agent.Value{Incarnation: f.Incarnation, Revision: f.Revision, ContentType: f.ContentType, Bytes: f.Bytes}
	case *agent.Entries:
		f.Thread = agent.Thread{Incarnation: f.Thread.Incarnation, Rev: f.Thread.Rev, Head: f.Thread.Head, Floor: f.Thread.Floor}
	}
}

// followAll follows a thread, a claim and the changes of a scope with the library's streams.
func followAll(t *testing.T, client *sdkclient.Client, store agent.Service, scope string) {
	t.Helper()
	do := func(op agent.Op) agent.OpResult {
		r, err := store.Commit(t.Context(), agent.Commit{Scope: scope, Ops: []agent.Op{op}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Results[0]
	}
	entry := func(id string) agent.Op { return &agent.AppendThread{Thread: "w/1", Entries: []agent.Draft{{ID: id}}} }
	take := func(w agent.Watch, events int, meanwhile func(n int)) (told []agent.Event, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		w.Scope = scope
		for e, err := range client.Watch(ctx, w) {
			if err != nil {
				return told, err
			}
			if told = append(told, e); len(told) == events {
				return told, nil
			}
			if meanwhile != nil {
				meanwhile(len(told))
			}
		}
		return told, ctx.Err()
	}
	created, ok := do(entry("e0")).(*agent.ThreadResult)
	if !ok {
		t.Fatal("an append has no result of a thread")
	}
	do(entry("e1"))
	do(entry("e2"))
	told, err := take(agent.Watch{Thread: "w/1", From: 1}, 4, func(n int) {
		if n == 2 {
			do(entry("e3"))
		}
		if n == 3 {
			do(&agent.DeleteThread{Thread: "w/1"})
		}
	})
	if err != nil || len(told) != 4 || told[0].Entry.ID != "e1" || told[2].Entry.Seq != 3 || told[3].Kind != agent.EventDeleted {
		t.Errorf("%s: a thread was told as %+v, %v", scope, told, err)
	}
	if told, err = take(agent.Watch{Thread: "w/1"}, 1, nil); agent.CodeOf(err) != agent.CodeNotFound {
		t.Errorf("%s: a watch of no thread: %+v, %v", scope, told, err)
	}
	do(entry("again"))
	do(entry("and again"))
	do(&agent.CompactThread{Thread: "w/1", BeforeSeq: 1})
	if told, err = take(agent.Watch{Thread: "w/1", Incarnation: created.Thread.Incarnation}, 1, nil); err != nil || len(told) != 1 || told[0].Kind != agent.EventDeleted {
		t.Errorf("%s: a watch of the deleted incarnation: %+v, %v", scope, told, err)
	}
	if told, err = take(agent.Watch{Thread: "w/1"}, 1, nil); err != nil || len(told) != 1 || told[0].Kind != agent.EventCompacted || told[0].Floor != 1 {
		t.Errorf("%s: a watch from before the floor: %+v, %v", scope, told, err)
	}
	if told, err = take(agent.Watch{Claim: "wc"}, 2, func(int) { do(&agent.TakeClaim{Claim: "wc", Holder: "h"}) }); err != nil || len(told) != 2 || told[0].Claim.Held() || told[1].Claim.Holder != "h" {
		t.Errorf("%s: a claim was told as %+v, %v", scope, told, err)
	}
	at, err := store.Commit(t.Context(), agent.Commit{Scope: scope, Ops: []agent.Op{&agent.PutValue{Key: "w1"}, &agent.PutValue{Key: "w2"}, &agent.DeleteValue{Key: "w1"}}})
	if err != nil {
		t.Fatal(err)
	}
	feed := agent.Watch{Changes: true, From: at.Index, Prefix: string(agent.ChangedValue) + "/w"}
	if told, err = take(feed, 4, func(n int) {
		if n == 3 {
			do(&agent.PutValue{Key: "w4"})
		}
	}); err != nil || len(told) != 4 || told[0].Changes[0].Key != "w1" || !told[2].Changes[0].Deleted || told[3].Changes[0].Key != "w4" {
		t.Errorf("%s: the feed is %+v, %v", scope, told, err)
	}
	feed.Skip = told[0].Changes[0].Ordinal + 1
	if told, err = take(feed, 1, nil); err != nil || told[0].Changes[0].Key != "w2" {
		t.Errorf("%s: the feed goes on with %+v, %v", scope, told, err)
	}
}

// TestThePathsAreCallsOfTheAPI finds each path in the list of calls of each library, by which it repeats them.
func TestThePathsAreCallsOfTheAPI(t *testing.T) {
	for _, file := range []string{"../../sdk/python/dormouse/operations.py", "../../sdk/js/src/operations.ts", "../../sdk/elixir/lib/dormouse/operations.ex"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range sdkclient.Paths {
			if !strings.Contains(string(text), " "+path) {
				t.Errorf("%s has no call of %s", file, path)
			}
		}
	}
}
