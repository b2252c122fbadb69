package client

import (
	"context"

	"dormouse/agent"
)

// SaveConversation saves the state that a conversation goes on from;
// revision_mismatch where it was loaded at another revision than the stored
// one, which then stays.
func (s Scope) SaveConversation(ctx context.Context, save agent.SaveConversation) (agent.ConversationRow, error) {
	return s.conversation(ctx, &save)
}

// SetInterrupted says whether a conversation waits for a person, beside what
// its saves say.
func (s Scope) SetInterrupted(ctx context.Context, set agent.SetInterrupted) (agent.ConversationRow, error) {
	return s.conversation(ctx, &set)
}

// PendMessage keeps a message for an agent that is busy, and returns its
// number: a save that has the message in its state consumes it by that.
func (s Scope) PendMessage(ctx context.Context, pend agent.PendMessage) (number uint64, err error) {
	r, err := do[*agent.ConversationResult](ctx, s, &pend)
	if err != nil {
		return 0, err
	}
	return r.Pending, nil
}

// SaveMessages adds to what people see of a conversation. The result says
// where each message went.
func (s Scope) SaveMessages(ctx context.Context, save agent.SaveMessages) (*agent.ConversationResult, error) {
	return do[*agent.ConversationResult](ctx, s, &save)
}

// UpdateMessage changes a message in its place; one that is missing is no
// error: the result says so.
func (s Scope) UpdateMessage(ctx context.Context, update agent.UpdateMessage) (*agent.MessageResult, error) {
	return do[*agent.MessageResult](ctx, s, &update)
}

// DeleteConversation deletes a conversation with its messages; a missing one
// is fine.
func (s Scope) DeleteConversation(ctx context.Context, del agent.DeleteConversation) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s, &del)
}

// GetConversation reads a conversation; not_found if there is none,
// forbidden where it has another agent or owner than the reference names.
func (s Scope) GetConversation(ctx context.Context, ref agent.ConversationRef) (*agent.SavedConversation, error) {
	return ask[*agent.SavedConversation](ctx, s, &agent.GetConversation{ConversationRef: ref})
}

// ListConversations lists conversations in id order: all of them, one agent's,
// one owner's, or those that wait for a person.
func (s Scope) ListConversations(ctx context.Context, list agent.ListConversations) (*agent.ConversationList, error) {
	return ask[*agent.ConversationList](ctx, s, &list)
}

// ListMessages reads what people see of a conversation, in order.
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
