package grpc

import (
	"context"

	apipb "dormouse/proto/api"
)

type conversations struct {
	apipb.UnimplementedConversationsServer
	*front
}

func (s *conversations) Save(ctx context.Context, req *apipb.SaveConversationRequest) (*apipb.ConversationResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_SaveConversation{SaveConversation: req.Save}})
}

func (s *conversations) SetInterrupted(ctx context.Context, req *apipb.SetInterruptedRequest) (*apipb.ConversationResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_SetInterrupted{SetInterrupted: req.Set}})
}

func (s *conversations) Pend(ctx context.Context, req *apipb.PendMessageRequest) (*apipb.ConversationResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_PendMessage{PendMessage: req.Pend}})
}

func (s *conversations) SaveMessages(ctx context.Context, req *apipb.SaveMessagesRequest) (*apipb.ConversationResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_SaveMessages{SaveMessages: req.Save}})
}

// SetTTL says when a conversation goes by itself.
func (s *conversations) SetTTL(ctx context.Context, req *apipb.SetTTLRequest) (*apipb.ConversationResponse, error) {
	return s.change(ctx, req.Context, ttlOf(&apipb.SetTTL{Conversation: req.Id}, req))
}

func (s *conversations) change(ctx context.Context, c *apipb.Context, op *apipb.Op) (*apipb.ConversationResponse, error) {
	res, err := s.do(ctx, c, op)
	if err != nil {
		return nil, err
	}
	conversation, err := found(res.Results[0].GetConversation(), nil)
	return &apipb.ConversationResponse{Index: res.Index, Conversation: conversation}, err
}

func (s *conversations) UpdateMessage(ctx context.Context, req *apipb.UpdateMessageRequest) (*apipb.MessageResponse, error) {
	res, err := s.do(ctx, req.Context, &apipb.Op{Op: &apipb.Op_UpdateMessage{UpdateMessage: req.Update}})
	if err != nil {
		return nil, err
	}
	message, err := found(res.Results[0].GetMessage(), nil)
	return &apipb.MessageResponse{Index: res.Index, Message: message}, err
}

func (s *conversations) Delete(ctx context.Context, req *apipb.DeleteConversationRequest) (*apipb.DeleteResponse, error) {
	return s.remove(ctx, req.Context, &apipb.Op{Op: &apipb.Op_DeleteConversation{DeleteConversation: req.Delete}})
}

func (s *conversations) Get(ctx context.Context, req *apipb.GetConversationRequest) (*apipb.SavedConversation, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_GetConversation{GetConversation: req.Get}})
	return found(a.GetConversation(), err)
}

func (s *conversations) List(ctx context.Context, req *apipb.ListConversationsRequest) (*apipb.ConversationList, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_ListConversations{ListConversations: req.List}})
	return found(a.GetConversations(), err)
}

func (s *conversations) Messages(ctx context.Context, req *apipb.ListMessagesRequest) (*apipb.MessageList, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_ListMessages{ListMessages: req.List}})
	return found(a.GetMessages(), err)
}
