package grpc_test

import (
	"context"
	"testing"
	"testing/synctest"

	"dormouse/agent"
	apipb "dormouse/proto/api"
	"dormouse/server/grpc"
)

// talked answers each op on conversations with what it should.
func talked(_ context.Context, c agent.Commit, done func(agent.Result, error)) {
	r := agent.Result{Index: 5}
	switch op := c.Ops[0].(type) {
	case *agent.UpdateMessage:
		r.Results = append(r.Results, &agent.MessageResult{Found: true, Message: agent.EntryStamp{ID: op.Message}})
	case *agent.DeleteConversation:
		r.Results = append(r.Results, &agent.DeleteResult{Existed: true})
	case *agent.ReviseValue:
		r.Results = append(r.Results, &agent.ValueResult{Key: op.To})
	default:
		r.Results = append(r.Results, &agent.ConversationResult{Conversation: agent.ConversationRow{ID: "c", Revision: 7}, Pending: 3})
	}
	done(r, nil)
}

func heard(_ context.Context, r agent.Reads) (agent.Answers, error) {
	var f agent.Found = &agent.SavedConversation{ConversationRow: agent.ConversationRow{ID: "c"}}
	switch r.Reads[0].(type) {
	case *agent.ListConversations:
		f = &agent.ConversationList{}
	case *agent.ListMessages:
		f = &agent.MessageList{}
	}
	return agent.Answers{Answers: []agent.Answer{{Found: f}}}, nil
}

func TestEveryCallOnConversationsIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, conn := serve(t, &fake{submit: talked, read: heard}, grpc.Options{})
		ctx, convs, vals := t.Context(), apipb.NewConversationsClient(conn), apipb.NewValuesClient(conn)
		for name, call := range map[string]func() (*apipb.ConversationResponse, error){
			"Save": func() (*apipb.ConversationResponse, error) {
				return convs.Save(ctx, &apipb.SaveConversationRequest{Save: &apipb.SaveConversation{}})
			},
			"SetInterrupted": func() (*apipb.ConversationResponse, error) {
				return convs.SetInterrupted(ctx, &apipb.SetInterruptedRequest{Set: &apipb.SetInterrupted{}})
			},
			"Pend": func() (*apipb.ConversationResponse, error) {
				return convs.Pend(ctx, &apipb.PendMessageRequest{Pend: &apipb.PendMessage{}})
			},
			"SetTTL": func() (*apipb.ConversationResponse, error) {
				return convs.SetTTL(ctx, &apipb.SetTTLRequest{Id: "c", TtlMs: 1000})
			},
			"SaveMessages": func() (*apipb.ConversationResponse, error) {
				return convs.SaveMessages(ctx, &apipb.SaveMessagesRequest{Save: &apipb.SaveMessages{}})
			},
		} {
			got, err := call()
			if err != nil || got.GetIndex() != 5 || got.GetConversation().GetConversation().GetRevision() != 7 || got.GetConversation().GetPending() != 3 {
				t.Errorf("%s answers %v, %v", name, got, err)
			}
		}
		if got, err := convs.UpdateMessage(ctx, &apipb.UpdateMessageRequest{Update: &apipb.UpdateMessage{Message: "m"}}); err != nil || got.GetMessage().GetMessage().GetId() != "m" {
			t.Errorf("UpdateMessage answers %v, %v", got, err)
		}
		if got, err := convs.Delete(ctx, &apipb.DeleteConversationRequest{Delete: &apipb.DeleteConversation{}}); err != nil || !got.GetDeleted().GetExisted() {
			t.Errorf("Delete answers %v, %v", got, err)
		}
		if got, err := vals.Revise(ctx, &apipb.ReviseValueRequest{Revise: &apipb.ReviseValue{To: "v"}}); err != nil || got.GetValue().GetKey() != "v" {
			t.Errorf("Revise answers %v, %v", got, err)
		}
		if got, err := convs.Get(ctx, &apipb.GetConversationRequest{}); err != nil || got.GetRow().GetId() != "c" {
			t.Errorf("Get answers %v, %v", got, err)
		}
		if _, err := convs.List(ctx, &apipb.ListConversationsRequest{}); err != nil {
			t.Errorf("List: %v", err)
		}
		if _, err := convs.Messages(ctx, &apipb.ListMessagesRequest{}); err != nil {
			t.Errorf("Messages: %v", err)
		}
	})
}
