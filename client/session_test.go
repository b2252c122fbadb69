package client_test

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
)

func TestCallsOnSessionsAreOneCommitOrReadEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWires(t), &fake{}
		row := agent.SessionRow{ID: "s", Revision: 4, Lease: &agent.Lease{LeaseID: "lease_7", Epoch: 7}}
		f.submit = func(_ context.Context, c agent.Commit, done func(agent.Result, error)) {
			var r agent.OpResult = &agent.SessionResult{Session: row, Queued: 2}
			switch c.Ops[0].(type) {
			case *agent.DeleteSession:
				r = &agent.DeleteResult{Existed: true}
			case *agent.DecideReview:
				r = &agent.ReviewResult{Review: agent.Review{ID: "q", Status: agent.ReviewDenied}}
			}
			done(agent.Result{Results: []agent.OpResult{r}}, nil)
		}
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true}).In("acme")
		ctx, none := t.Context(), uint64(0)
		snapshot := agent.SessionSnapshot{ID: "n", Cursor: agent.Cursor{Phase: agent.PhaseWait}}
		rowOf := func(got agent.SessionRow, err error) (any, error) { return got.Revision, err }
		resultOf := func(r *agent.SessionResult, err error) (any, error) { return r.Queued, err }
		for _, call := range []struct {
			made func() (any, error)
			op   agent.Op
			want any
		}{
			{func() (any, error) { return rowOf(c.StartSession(ctx, agent.PutSession{Session: "s", Agent: "a"})) }, &agent.PutSession{Session: "s", Agent: "a", IfRevision: &none}, uint64(4)},
			{func() (any, error) { return rowOf(c.PutSession(ctx, agent.PutSession{Session: "s", Agent: "a"})) }, &agent.PutSession{Session: "s", Agent: "a"}, uint64(4)},
			{func() (any, error) {
				return resultOf(c.ClaimSession(ctx, agent.ClaimSession{Session: "s", Owner: "o", TTL: time.Minute}))
			}, &agent.ClaimSession{Session: "s", Owner: "o", TTL: time.Minute}, uint64(2)},
			{func() (any, error) {
				return resultOf(c.ResumeSession(ctx, agent.ResumeSession{Session: "s", Owner: "o", TTL: time.Minute}))
			}, &agent.ResumeSession{Session: "s", Owner: "o", TTL: time.Minute}, uint64(2)},
			{func() (any, error) {
				return resultOf(c.RecoverSession(ctx, agent.RecoverSession{Session: "s", Owner: "o", TTL: time.Minute}))
			}, &agent.RecoverSession{Session: "s", Owner: "o", TTL: time.Minute}, uint64(2)},
			{func() (any, error) {
				return rowOf(c.CheckpointSession(ctx, agent.CheckpointSession{Session: "s", Snapshot: snapshot}))
			}, &agent.CheckpointSession{Session: "s", Snapshot: snapshot}, uint64(4)},
			{func() (any, error) {
				return rowOf(c.CommitSession(ctx, agent.CommitSession{Session: "s", Status: agent.SessionFinished}))
			}, &agent.CommitSession{Session: "s", Status: agent.SessionFinished}, uint64(4)},
			{func() (any, error) { return rowOf(c.RenewSession(ctx, agent.RenewSession{Session: "s"})) }, &agent.RenewSession{Session: "s"}, uint64(4)},
			{func() (any, error) { return rowOf(c.CancelSession(ctx, agent.CancelSession{Session: "s"})) }, &agent.CancelSession{Session: "s"}, uint64(4)},
			{func() (any, error) {
				return rowOf(c.ForkSession(ctx, agent.ForkSession{Session: "s", NewSession: "t"}))
			}, &agent.ForkSession{Session: "s", NewSession: "t"}, uint64(4)},
			{func() (any, error) {
				r, err := c.DeleteSession(ctx, agent.DeleteSession{Session: "s"})
				return r.Existed, err
			}, &agent.DeleteSession{Session: "s"}, true},
			{func() (any, error) {
				r, err := c.DecideReview(ctx, agent.DecideReview{Review: "q", Decision: agent.DecideDeny, By: "b"})
				return r.Status, err
			}, &agent.DecideReview{Review: "q", Decision: agent.DecideDeny, By: "b"}, agent.ReviewDenied},
		} {
			got, err := call.made()
			seen := f.seen()
			last := seen[len(seen)-1]
			if err != nil || got != call.want || last.Scope != "acme" || !reflect.DeepEqual(last.Ops, []agent.Op{call.op}) {
				t.Errorf("%T gives %v, %v, from %+v", call.op, got, err, last.Ops[0])
			}
		}
		if _, err := c.UnderLease(row).CancelSession(ctx, agent.CancelSession{Session: "s"}); err != nil {
			t.Fatal(err)
		}
		seen := f.seen()
		if fence := seen[len(seen)-1].Fence; fence == nil || *fence != (agent.Fence{Claim: "session:s", Epoch: 7}) {
			t.Errorf("under the lease it writes under %+v", fence)
		}
	})
}

func TestReadsOfSessionsAndReviews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWires(t), &fake{}
		f.read = func(_ context.Context, r agent.Reads) (agent.Answers, error) {
			var found agent.Found
			switch r.Reads[0].(type) {
			case *agent.GetSession:
				found = &agent.Session{SessionRow: agent.SessionRow{ID: "s"}}
			case *agent.ListSessions:
				found = &agent.SessionList{Next: "s"}
			case *agent.GetReview:
				found = &agent.Review{ID: "q"}
			case *agent.ListReviews:
				found = &agent.ReviewList{Next: "00"}
			}
			return agent.Answers{Answers: []agent.Answer{{Found: found}}}, nil
		}
		w.serve("a", f, f)
		c, ctx := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true}), t.Context()
		if s, err := c.GetSession(ctx, "s"); err != nil || s.ID != "s" {
			t.Errorf("%+v, %v", s, err)
		}
		if l, err := c.ListSessions(ctx, agent.ListSessions{Recoverable: true}); err != nil || l.Next != "s" {
			t.Errorf("%+v, %v", l, err)
		}
		if r, err := c.GetReview(ctx, "q"); err != nil || r.ID != "q" {
			t.Errorf("%+v, %v", r, err)
		}
		if l, err := c.ListReviews(ctx, agent.ListReviews{Assignee: "ann", Before: 5}); err != nil || l.Next != "00" {
			t.Errorf("%+v, %v", l, err)
		}
		want := []agent.Read{
			&agent.GetSession{Session: "s"}, &agent.ListSessions{Recoverable: true},
			&agent.GetReview{Review: "q"}, &agent.ListReviews{Assignee: "ann", Before: 5},
		}
		for i, read := range f.reads {
			if !reflect.DeepEqual(read.Reads[0], want[i]) {
				t.Errorf("read %d is %+v", i, read.Reads[0])
			}
		}
	})
}
