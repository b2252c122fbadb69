package stores

import (
	"context"
	"iter"

	"dormouse/agent"
	"dormouse/client"
)

// ConversationStore keeps what an agent goes on from, conversation by
// conversation, and what is said to it meanwhile. Lookups have three answers
// that a caller must never take for each other: found, agent.ErrNotFound, and
// agent.ErrUnavailable, after which there may well be one.
type ConversationStore interface {
	// Load reads a conversation for an agent and an owner: another's is forbidden.
	// One that has messages and no state yet is agent.ErrNotFound.
	Load(ctx context.Context, of agent.ConversationRef) (*agent.SavedConversation, error)

	// Save saves the state that comes after the revision that was loaded, 0 for
	// the first, and returns the new revision. revision_mismatch means that a
	// newer state is stored, and stays.
	Save(ctx context.Context, save agent.SaveConversation) (revision uint64, err error)

	// SetInterrupted says that the conversation waits for a person, or no longer.
	SetInterrupted(ctx context.Context, of agent.ConversationRef, interrupted bool) error

	// Interrupted yields the conversations that wait for a person, in id order.
	// An error is the last element.
	Interrupted(ctx context.Context) iter.Seq2[agent.ConversationRow, error]

	// Pend keeps a message for an agent that is busy. It stays until a Save says
	// by its number that it is Consumed.
	Pend(ctx context.Context, to agent.ConversationRef, message agent.JSON) (number uint64, err error)

	// Delete deletes the conversation with its messages; a missing one is fine.
	Delete(ctx context.Context, of agent.ConversationRef) error
}

// MessageStore keeps what people see of conversations.
type MessageStore interface {
	// SaveMessages adds messages at the end, and returns where they went. One
	// whose id is there already with equal content is skipped.
	SaveMessages(ctx context.Context, to agent.ConversationRef, messages ...agent.MessageDraft) ([]agent.EntryStamp, error)

	// SetToolStatus says how a tool call stands; false where nothing shows it.
	SetToolStatus(ctx context.Context, of agent.ConversationRef, call string, status agent.ToolStatus) (found bool, err error)

	// ResolveToolResult completes a tool call and puts content in the place of what
	// its result's message says, in one commit; false where no message shows its
	// result, so that content is kept nowhere.
	ResolveToolResult(ctx context.Context, of agent.ConversationRef, call string, content agent.JSON) (found bool, err error)

	// Messages yields the messages in order, page by page. An error is the last
	// element.
	Messages(ctx context.Context, of agent.ConversationRef) iter.Seq2[agent.Message, error]
}

// Conversations is the ConversationStore and MessageStore of a scope.
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
			q.IfIncarnation = page.Conversation.Incarnation // pages of two lives are not mixed
		}
	}
}
