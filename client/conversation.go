package client

import (
	"context"

	"dormouse/agent"
)

// SaveConversation saves the state of a conversation. If another revision than the
// loaded one is stored, it fails with revision_mismatch and changes nothing.
func (s Scope) SaveConversation(ctx context.Context, save agent.SaveConversation) (agent.ConversationRow, error) {
	return s.conversation(ctx, &save)
}

// SetInterrupted sets whether a conversation waits for a person, without a save.
func (s Scope) SetInterrupted(ctx context.Context, set agent.SetInterrupted) (agent.ConversationRow, error) {
	return s.conversation(ctx, &set)
}

// PendMessage keeps a message for a busy agent, and returns its number. A save whose
// state includes the message consumes it by that number.
func (s Scope) PendMessage(ctx context.Context, pend agent.PendMessage) (number uint64, err error) {
	r, err := do[*agent.ConversationResult](ctx, s, &pend)
	if err != nil {
		return 0, err
	}
	return r.Pending, nil
}

// SaveMessages adds messages to what people see of a conversation. The result says
// where each message was stored.
func (s Scope) SaveMessages(ctx context.Context, save agent.SaveMessages) (*agent.ConversationResult, error) {
	return do[*agent.ConversationResult](ctx, s, &save)
}

// UpdateMessage changes a message in place. A missing message is not an error; the
// result says that it was not found.
func (s Scope) UpdateMessage(ctx context.Context, update agent.UpdateMessage) (*agent.MessageResult, error) {
	return do[*agent.MessageResult](ctx, s, &update)
}

// DeleteConversation deletes a conversation with its messages; deleting a missing one
// succeeds.
func (s Scope) DeleteConversation(ctx context.Context, del agent.DeleteConversation) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s, &del)
}

// GetConversation reads a conversation; not_found if it does not exist, forbidden if
// the reference names another agent or owner.
func (s Scope) GetConversation(ctx context.Context, ref agent.ConversationRef) (*agent.SavedConversation, error) {
	return ask[*agent.SavedConversation](ctx, s, &agent.GetConversation{ConversationRef: ref})
}

// ListConversations lists conversations in id order: all, those of one agent or owner,
// or those that wait for a person.
func (s Scope) ListConversations(ctx context.Context, list agent.ListConversations) (*agent.ConversationList, error) {
	return ask[*agent.ConversationList](ctx, s, &list)
}

// ListMessages reads the messages of a conversation, in order.
func (s Scope) ListMessages(ctx context.Context, list agent.ListMessages) (*agent.MessageList, error) {
	return ask[*agent.MessageList](ctx, s, &list)
}

func (s Scope) conversation(ctx context.Context, op agent.Op) (agent.ConversationRow, error) {
	r, err := do[*agent.ConversationResult](ctx, s, op)
	if err != nil {
		return agent.ConversationRow{}, err
	}
	return r.Conversation, nil
}
