package grpc_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"dormouse/agent"
	apipb "dormouse/proto/api"
	"dormouse/server/grpc"
)

func TestTheTTLOfEachNounIsSetByACallOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []agent.SetTTL
		_, conn := serve(t, &fake{submit: func(_ context.Context, c agent.Commit, done func(agent.Result, error)) {
			op := *c.Ops[0].(*agent.SetTTL)
			asked = append(asked, op)
			var answer agent.OpResult = &agent.ThreadResult{Thread: agent.Thread{ID: op.Thread, ExpiresAt: 9}}
			switch {
			case op.Session != "":
				answer = &agent.SessionResult{Session: agent.SessionRow{ID: op.Session, ExpiresAt: 9}}
			case op.Conversation != "":
				answer = &agent.ConversationResult{Conversation: agent.ConversationRow{ID: op.Conversation, ExpiresAt: 9}}
			}
			done(agent.Result{Index: 5, Results: []agent.OpResult{answer}}, nil)
		}}, grpc.Options{})
		ctx, req := t.Context(), &apipb.SetTTLRequest{Id: "x", TtlMs: 1500, IfIncarnation: 7}
		thread, err := apipb.NewThreadsClient(conn).SetTTL(ctx, req)
		if err != nil || thread.GetIndex() != 5 || thread.GetThread().GetThread().GetExpiresAt() != 9 {
			t.Errorf("Threads: %v, %v", thread, err)
		}
		session, err := apipb.NewSessionsClient(conn).SetTTL(ctx, req)
		if err != nil || session.GetIndex() != 5 || session.GetSession().GetSession().GetExpiresAt() != 9 {
			t.Errorf("Sessions: %v, %v", session, err)
		}
		conversation, err := apipb.NewConversationsClient(conn).SetTTL(ctx, req)
		if err != nil || conversation.GetIndex() != 5 || conversation.GetConversation().GetConversation().GetExpiresAt() != 9 {
			t.Errorf("Conversations: %v, %v", conversation, err)
		}
		want := []agent.SetTTL{{Thread: "x"}, {Session: "x"}, {Conversation: "x"}}
		for i := range want {
			want[i].TTL, want[i].IfIncarnation = 1500*time.Millisecond, 7
		}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("ops (-want +got):\n%s", diff)
		}
	})
}
