package grpc_test

import (
	"reflect"
	"testing"
	"testing/synctest"

	"dormouse/agent"
	apipb "dormouse/proto/api"
	"dormouse/server/grpc"
)

func TestTypedCallsOnSessionsAreTheirOps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{submit: results, read: answers}
		_, conn := serve(t, f, grpc.Options{})
		s, ctx := apipb.NewSessionsClient(conn), t.Context()
		c := &apipb.Context{Scope: "acme", Fence: &apipb.Fence{Claim: "c", Epoch: 7}}
		for _, call := range []struct {
			made func() (*apipb.SessionResponse, error)
			want agent.Op
		}{
			{func() (*apipb.SessionResponse, error) {
				return s.Put(ctx, &apipb.PutSessionRequest{Context: c, Put: &apipb.PutSession{Session: "s", AgentId: "a"}})
			}, &agent.PutSession{Session: "s", Agent: "a"}},
			{func() (*apipb.SessionResponse, error) {
				return s.Claim(ctx, &apipb.ClaimSessionRequest{Context: c, Claim: &apipb.ClaimSession{
					Session: "s", OwnerId: "o", Request: &apipb.SessionRequest{Id: "r", Input: []byte(`"hi"`)},
				}})
			}, &agent.ClaimSession{Session: "s", Owner: "o", Request: &agent.SessionRequest{ID: "r", Input: agent.JSON(`"hi"`)}}},
			{func() (*apipb.SessionResponse, error) {
				return s.Resume(ctx, &apipb.ResumeSessionRequest{Context: c, Resume: &apipb.ResumeSession{Session: "s", OwnerId: "o"}})
			}, &agent.ResumeSession{Session: "s", Owner: "o"}},
			{func() (*apipb.SessionResponse, error) {
				return s.Recover(ctx, &apipb.RecoverSessionRequest{Context: c, Recover: &apipb.RecoverSession{Session: "s", OwnerId: "o"}})
			}, &agent.RecoverSession{Session: "s", Owner: "o"}},
			{func() (*apipb.SessionResponse, error) {
				return s.Checkpoint(ctx, &apipb.CheckpointSessionRequest{Context: c, Checkpoint: &apipb.CheckpointSession{
					Session: "s", LeaseId: "l", OwnerId: "o", Snapshot: &apipb.SessionSnapshot{Id: "n", Cursor: &apipb.Cursor{Phase: "wait"}},
				}})
			}, &agent.CheckpointSession{Session: "s", LeaseID: "l", Owner: "o", Snapshot: agent.SessionSnapshot{ID: "n", Cursor: agent.Cursor{Phase: agent.PhaseWait}}}},
			{func() (*apipb.SessionResponse, error) {
				return s.Commit(ctx, &apipb.CommitSessionRequest{Context: c, Commit: &apipb.CommitSession{Session: "s", LeaseId: "l", OwnerId: "o", Status: "finished"}})
			}, &agent.CommitSession{Session: "s", LeaseID: "l", Owner: "o", Status: agent.SessionFinished}},
			{func() (*apipb.SessionResponse, error) {
				return s.Renew(ctx, &apipb.RenewSessionRequest{Context: c, Renew: &apipb.RenewSession{Session: "s", LeaseId: "l", OwnerId: "o"}})
			}, &agent.RenewSession{Session: "s", LeaseID: "l", Owner: "o"}},
			{func() (*apipb.SessionResponse, error) {
				return s.Cancel(ctx, &apipb.CancelSessionRequest{Context: c, Cancel: &apipb.CancelSession{Session: "s", Reason: []byte("1")}})
			}, &agent.CancelSession{Session: "s", Reason: agent.JSON("1")}},
			{func() (*apipb.SessionResponse, error) {
				return s.Fork(ctx, &apipb.ForkSessionRequest{Context: c, Fork: &apipb.ForkSession{Session: "s", NewSession: "t", SnapshotId: "n"}})
			}, &agent.ForkSession{Session: "s", NewSession: "t", Snapshot: "n"}},
		} {
			res, err := call.made()
			if err != nil || res.Index != 5 || res.Session.GetSession().GetRevision() != 4 {
				t.Errorf("%T: %v, %v", call.want, res, err)
				continue
			}
			last := f.commits[len(f.commits)-1]
			if last.Scope != "acme" || last.Fence == nil || last.Fence.Epoch != 7 || !reflect.DeepEqual(last.Ops, []agent.Op{call.want}) {
				t.Errorf("it committed %+v, want %+v", last.Ops[0], call.want)
			}
		}
		if res, err := s.Delete(ctx, &apipb.DeleteSessionRequest{Delete: &apipb.DeleteSession{Session: "s"}}); err != nil || !res.GetDeleted().GetExisted() {
			t.Errorf("Sessions.Delete: %v, %v", res, err)
		}
		if _, err := s.Get(ctx, &apipb.GetSessionRequest{Get: &apipb.GetSession{Session: "s"}}); err != nil {
			t.Errorf("Sessions.Get: %v", err)
		}
		if _, err := s.List(ctx, &apipb.ListSessionsRequest{List: &apipb.ListSessions{Status: "running"}}); err != nil {
			t.Errorf("Sessions.List: %v", err)
		}
		if _, err := s.Claim(ctx, &apipb.ClaimSessionRequest{}); detail(err).GetCode() != string(agent.CodeInvalid) {
			t.Errorf("a claim of nothing: %v", err)
		}
	})
}

func TestTypedCallsOnReviewsAreServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{submit: results, read: answers}
		_, conn := serve(t, f, grpc.Options{})
		r, ctx := apipb.NewReviewsClient(conn), t.Context()
		res, err := r.Decide(ctx, &apipb.DecideReviewRequest{Decide: &apipb.DecideReview{Review: "q", Decision: "approve", By: "ann"}})
		if err != nil || res.Index != 5 || res.Review.GetStatus() != "approved" {
			t.Errorf("Reviews.Decide: %v, %v", res, err)
		}
		want := []agent.Op{&agent.DecideReview{Review: "q", Decision: agent.DecideApprove, By: "ann"}}
		if got := f.commits[0].Ops; !reflect.DeepEqual(got, want) {
			t.Errorf("it committed %+v", got[0])
		}
		if _, err := r.Get(ctx, &apipb.GetReviewRequest{Get: &apipb.GetReview{Review: "q"}}); err != nil {
			t.Errorf("Reviews.Get: %v", err)
		}
		if _, err := r.List(ctx, &apipb.ListReviewsRequest{List: &apipb.ListReviews{}}); err != nil {
			t.Errorf("Reviews.List: %v", err)
		}
	})
}
