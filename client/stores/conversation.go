package stores

import (
	"context"
	"iter"

	"dormouse/agent"
	"dormouse/client"
)

// ConversationStore stores the states of conversations and their pending messages. A
// lookup has three results that callers must not confuse: found, agent.ErrNotFound,
// and agent.ErrUnavailable, after which the conversation may exist.
type ConversationStore interface {
	// Load reads a conversation of an agent and an owner; another agent or owner is
	// forbidden. A conversation without a state, even with messages, is
	// agent.ErrNotFound.
	Load(ctx context.Context, of agent.ConversationRef) (*agent.SavedConversation, error)

	// Save saves the next state after the loaded revision, 0 for the first, and
	// returns the new revision. revision_mismatch means that a newer state is stored;
	// it stays.
	Save(ctx context.Context, save agent.SaveConversation) (revision uint64, err error)

	// SetInterrupted sets whether the conversation waits for a person.
	SetInterrupted(ctx context.Context, of agent.ConversationRef, interrupted bool) error

	// Interrupted yields the conversations that wait for a person, in id order. An
	// error is the last element.
	Interrupted(ctx context.Context) iter.Seq2[agent.ConversationRow, error]

	// Pend keeps a message for a busy agent, until a Save has its number as Consumed.
	Pend(ctx context.Context, to agent.ConversationRef, message agent.JSON) (number uint64, err error)

	// Delete deletes the conversation with its messages; deleting a missing one
	// succeeds.
	Delete(ctx context.Context, of agent.ConversationRef) error
}

// MessageStore stores what people see of conversations.
type MessageStore interface {
	// SaveMessages appends messages, and returns where they were stored. A message
	// whose id is stored with equal content is skipped.
	SaveMessages(ctx context.Context, to agent.ConversationRef, messages ...agent.MessageDraft) ([]agent.EntryStamp, error)

	// SetToolStatus sets the status of a tool call; found is false if no message shows
	// it.
	SetToolStatus(ctx context.Context, of agent.ConversationRef, call string, status agent.ToolStatus) (found bool, err error)

	// ResolveToolResult completes a tool call and replaces the content of its result's
	// message, in one commit. found is false if no message shows the result; the
	// content is then not stored.
	ResolveToolResult(ctx context.Context, of agent.ConversationRef, call string, content agent.JSON) (found bool, err error)

	// Messages yields the messages in order. An error is the last element.
	Messages(ctx context.Context, of agent.ConversationRef) iter.Seq2[agent.Message, error]
}

// Conversations implements ConversationStore and MessageStore with a scope.
type Conversations struct{ Scope client.Scope }

var (
	_ ConversationStore = Conversations{}
	_ MessageStore      = Conversations{}
)

// Load implements ConversationStore.
func (c Conversations) Load(ctx context.Context, of agent.ConversationRef) (*agent.SavedConversation, error) {
	found, err := c.Scope.GetConversation(ctx, of)
	if err != nil {
		return nil, err
	}
	if found.Revision == 0 {
		return nil, agent.Errorf(agent.CodeNotFound, "conversation %q has no state yet", of.ID)
	}
	return found, nil
}

// Save implements ConversationStore.
func (c Conversations) Save(ctx context.Context, save agent.SaveConversation) (uint64, error) {
	row, err := c.Scope.SaveConversation(ctx, save)
	return row.Revision, err
}

// SetInterrupted implements ConversationStore.
func (c Conversations) SetInterrupted(ctx context.Context, of agent.ConversationRef, interrupted bool) error {
	_, err := c.Scope.SetInterrupted(ctx, agent.SetInterrupted{ConversationRef: of, Interrupted: interrupted})
	return err
}

// Interrupted implements ConversationStore.
func (c Conversations) Interrupted(ctx context.Context) iter.Seq2[agent.ConversationRow, error] {
	return pages("", func(page agent.Page) ([]agent.ConversationRow, string, error) {
		list, err := c.Scope.ListConversations(ctx, agent.ListConversations{Page: page, Interrupted: true})
		if err != nil {
			return nil, "", err
		}
		return list.Items, list.Next, nil
	})
}

// Pend implements ConversationStore.
func (c Conversations) Pend(ctx context.Context, to agent.ConversationRef, message agent.JSON) (uint64, error) {
	return c.Scope.PendMessage(ctx, agent.PendMessage{ConversationRef: to, Message: message})
}

// Delete implements ConversationStore.
func (c Conversations) Delete(ctx context.Context, of agent.ConversationRef) error {
	_, err := c.Scope.DeleteConversation(ctx, agent.DeleteConversation{ConversationRef: of})
	return err
}

// SaveMessages implements MessageStore.
func (c Conversations) SaveMessages(ctx context.Context, to agent.ConversationRef, messages ...agent.MessageDraft) ([]agent.EntryStamp, error) {
	r, err := c.Scope.SaveMessages(ctx, agent.SaveMessages{ConversationRef: to, Messages: messages})
	if err != nil {
		return nil, err
	}
	return r.Messages, nil
}

// SetToolStatus implements MessageStore.
func (c Conversations) SetToolStatus(ctx context.Context, of agent.ConversationRef, call string, status agent.ToolStatus) (bool, error) {
	r, err := c.Scope.UpdateMessage(ctx, agent.UpdateMessage{
		ConversationRef: of, Message: agent.ToolMessageID(call, agent.RoleAssistant), Status: status,
	})
	if err != nil {
		return false, err
	}
	return r.Found, nil
}

// ResolveToolResult implements MessageStore.
func (c Conversations) ResolveToolResult(ctx context.Context, of agent.ConversationRef, call string, content agent.JSON) (bool, error) {
	done, err := c.Scope.Apply(ctx,
		&agent.UpdateMessage{ConversationRef: of, Message: agent.ToolMessageID(call, agent.RoleAssistant), Status: agent.ToolCompleted},
		&agent.UpdateMessage{ConversationRef: of, Message: agent.ToolMessageID(call, agent.RoleTool), Content: content})
	if err != nil {
		return false, err
	}
	result, ok := done.Results[len(done.Results)-1].(*agent.MessageResult)
	return ok && result.Found, nil
}

// Messages implements MessageStore.
func (c Conversations) Messages(ctx context.Context, of agent.ConversationRef) iter.Seq2[agent.Message, error] {
	return func(yield func(agent.Message, error) bool) {
		q := agent.ListMessages{ConversationRef: of}
		for {
			page, err := c.Scope.ListMessages(ctx, q)
			if err != nil {
				yield(agent.Message{}, err)
				return
			}
			for _, m := range page.Items {
				if !yield(m, nil) {
					return
				}
			}
			if page.Next == nil {
				return
			}
			q.From = *page.Next
			q.IfIncarnation = page.Conversation.Incarnation // pages of two incarnations are not mixed
		}
	}
}
