package client

import (
	"context"
	"time"

	"dormouse/agent"
)

// ForkAgent makes another agent of one: its checkpoint at a revision that is
// kept, its thread as that points to it, its memories, and a session where one
// is named.
func (s Scope) ForkAgent(ctx context.Context, fork agent.ForkAgent) (*agent.ForkedAgent, error) {
	return do[*agent.ForkedAgent](ctx, s, &fork)
}

// ThawRevision is Thaw from an older checkpoint that is still kept, with the
// thread as it was then; not_found says which ones are kept.
func (s Scope) ThawRevision(ctx context.Context, key string, revision uint64) (*agent.Thawed, error) {
	return ask[*agent.Thawed](ctx, s, &agent.Thaw{Key: key, Revision: revision})
}

// EraseAgent removes an agent everywhere, and waits until all of it has been
// cleared away. Where ctx ends before that, or the receipt cannot be read, it
// returns the receipt as it stood with the error: the agent is erased all the
// same, the cluster goes on by itself, and GetErasure tells how far it is.
// Without a receipt, an error is as of any commit.
func (s Scope) EraseAgent(ctx context.Context, erase agent.EraseAgent) (*agent.Erasure, error) {
	receipt, err := do[*agent.Erasure](ctx, s, &erase)
	if err != nil {
		return nil, err
	}
	return agent.AwaitErasure(ctx, receipt, func(ctx context.Context) (*agent.Erasure, error) { return s.GetErasure(ctx, erase.Agent) })
}

// GetErasure reads the receipt of an agent that was erased; not_found where
// there is none.
func (s Scope) GetErasure(ctx context.Context, name string) (*agent.Erasure, error) {
	return ask[*agent.Erasure](ctx, s, &agent.GetErasure{Agent: name})
}

// SetThreadTTL says when a thread goes by itself; 0 means never.
func (s Scope) SetThreadTTL(ctx context.Context, thread string, ttl time.Duration) (*agent.ThreadResult, error) {
	return do[*agent.ThreadResult](ctx, s, &agent.SetTTL{Thread: thread, TTL: ttl})
}

// SetConversationTTL says when a conversation goes by itself; 0 means never.
func (s Scope) SetConversationTTL(ctx context.Context, conversation string, ttl time.Duration) (*agent.ConversationResult, error) {
	return do[*agent.ConversationResult](ctx, s, &agent.SetTTL{Conversation: conversation, TTL: ttl})
}

// SetSessionTTL says when a session goes by itself; 0 means never.
func (s Scope) SetSessionTTL(ctx context.Context, session string, ttl time.Duration) (agent.SessionRow, error) {
	return s.session(ctx, &agent.SetTTL{Session: session, TTL: ttl})
}
