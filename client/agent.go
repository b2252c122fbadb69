package client

import (
	"context"
	"time"

	"dormouse/agent"
)

// ForkAgent copies an agent: its checkpoint at a kept revision, its thread at that
// checkpoint's pointer, its memories, and a session if one is named.
func (s Scope) ForkAgent(ctx context.Context, fork agent.ForkAgent) (*agent.ForkedAgent, error) {
	return do[*agent.ForkedAgent](ctx, s, &fork)
}

// ThawRevision is Thaw of a kept older revision of the checkpoint, with the thread at
// its pointer. The error not_found says which revisions are kept.
func (s Scope) ThawRevision(ctx context.Context, key string, revision uint64) (*agent.Thawed, error) {
	return ask[*agent.Thawed](ctx, s, &agent.Thaw{Key: key, Revision: revision})
}

// EraseAgent erases an agent, and waits until the erasure is complete. If ctx ends
// first or the receipt cannot be read, it returns the last receipt with the error. The
// agent is erased in that case too, and the cluster continues the removal: GetErasure
// reads its progress. An error without a receipt is that of the commit.
func (s Scope) EraseAgent(ctx context.Context, erase agent.EraseAgent) (*agent.Erasure, error) {
	receipt, err := do[*agent.Erasure](ctx, s, &erase)
	if err != nil {
		return nil, err
	}
	return agent.AwaitErasure(ctx, receipt, func(ctx context.Context) (*agent.Erasure, error) { return s.GetErasure(ctx, erase.Agent) })
}

// GetErasure reads the receipt of an erased agent; not_found without one.
func (s Scope) GetErasure(ctx context.Context, name string) (*agent.Erasure, error) {
	return ask[*agent.Erasure](ctx, s, &agent.GetErasure{Agent: name})
}

// SetThreadTTL sets when a thread expires; 0 means never.
func (s Scope) SetThreadTTL(ctx context.Context, thread string, ttl time.Duration) (*agent.ThreadResult, error) {
	return do[*agent.ThreadResult](ctx, s, &agent.SetTTL{Thread: thread, TTL: ttl})
}

// SetConversationTTL sets when a conversation expires; 0 means never.
func (s Scope) SetConversationTTL(ctx context.Context, conversation string, ttl time.Duration) (*agent.ConversationResult, error) {
	return do[*agent.ConversationResult](ctx, s, &agent.SetTTL{Conversation: conversation, TTL: ttl})
}

// SetSessionTTL sets when a session expires; 0 means never.
func (s Scope) SetSessionTTL(ctx context.Context, session string, ttl time.Duration) (agent.SessionRow, error) {
	return s.session(ctx, &agent.SetTTL{Session: session, TTL: ttl})
}
