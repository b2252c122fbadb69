package client

import (
	"context"
	"time"

	"dormouse/agent"
)

// SaveConversation saves the state of a conversation. If another revision than the
// loaded one is stored, it fails with revision_mismatch and changes nothing.
func (s Conversations) SaveConversation(ctx context.Context, save agent.SaveConversation) (agent.ConversationRow, error) {
	return s.conversation(ctx, &save)
}

// SetInterrupted sets whether a conversation waits for a person, without a save.
func (s Conversations) SetInterrupted(ctx context.Context, set agent.SetInterrupted) (agent.ConversationRow, error) {
	return s.conversation(ctx, &set)
}

// PendMessage keeps a message for a busy agent, and returns its number. A save whose
// state includes the message consumes it by that number.
func (s Conversations) PendMessage(ctx context.Context, pend agent.PendMessage) (number uint64, err error) {
	r, err := do[*agent.ConversationResult](ctx, s.target, &pend)
	if err != nil {
		return 0, err
	}
	return r.Pending, nil
}

// SaveMessages adds messages to what people see of a conversation. The result says
// where each message was stored.
func (s Conversations) SaveMessages(ctx context.Context, save agent.SaveMessages) (*agent.ConversationResult, error) {
	return do[*agent.ConversationResult](ctx, s.target, &save)
}

// UpdateMessage changes a message in place. A missing message is not an error; the
// result says that it was not found.
func (s Conversations) UpdateMessage(ctx context.Context, update agent.UpdateMessage) (*agent.MessageResult, error) {
	return do[*agent.MessageResult](ctx, s.target, &update)
}

// DeleteConversation deletes a conversation with its messages; deleting a missing one
// succeeds.
func (s Conversations) DeleteConversation(ctx context.Context, del agent.DeleteConversation) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s.target, &del)
}

// GetConversation reads a conversation; not_found if it does not exist, forbidden if
// the reference names another agent or owner.
func (s Conversations) GetConversation(ctx context.Context, ref agent.ConversationRef) (*agent.SavedConversation, error) {
	return ask[*agent.SavedConversation](ctx, s.target, &agent.GetConversation{ConversationRef: ref})
}

// ListConversations lists conversations in id order: all, those of one agent or owner,
// or those that wait for a person.
func (s Conversations) ListConversations(ctx context.Context, list agent.ListConversations) (*agent.ConversationList, error) {
	return ask[*agent.ConversationList](ctx, s.target, &list)
}

// ListMessages reads the messages of a conversation, in order.
func (s Conversations) ListMessages(ctx context.Context, list agent.ListMessages) (*agent.MessageList, error) {
	return ask[*agent.MessageList](ctx, s.target, &list)
}

func (s Conversations) conversation(ctx context.Context, op agent.Op) (agent.ConversationRow, error) {
	r, err := do[*agent.ConversationResult](ctx, s.target, op)
	if err != nil {
		return agent.ConversationRow{}, err
	}
	return r.Conversation, nil
}

// SetConversationTTL sets when a conversation expires; 0 means never.
func (s Conversations) SetConversationTTL(ctx context.Context, conversation string, ttl time.Duration) (*agent.ConversationResult, error) {
	return do[*agent.ConversationResult](ctx, s.target, &agent.SetTTL{Conversation: conversation, TTL: ttl})
}
