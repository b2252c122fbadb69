package client

import (
	"context"

	"dormouse/agent"
)

// Hibernate appends the entries of an agent's thread that the store lacks and puts the
// agent's checkpoint, in one commit. thread is nil for an agent without a thread; a
// put without a pointer points to thread's rev.
func (s Agents) Hibernate(ctx context.Context, put agent.PutCheckpoint, thread *agent.HibernateThread) (*agent.CheckpointResult, error) {
	if thread == nil {
		return Checkpoints(s).PutCheckpoint(ctx, put)
	}
	if put.Thread == nil {
		put.Thread = &agent.Pointer{Thread: thread.Thread, Rev: thread.Rev}
	}
	return doLast[*agent.CheckpointResult](ctx, s.target, thread, &put)
}

// Thaw reads an agent's checkpoint and the whole thread that it points to, at one
// index; not_found if it has no checkpoint. If the pointer does not match the thread, the
// error is missing_thread or thread_mismatch: dormctl agents repair shows both sides.
func (s Agents) Thaw(ctx context.Context, key string) (*agent.Thawed, error) {
	return ask[*agent.Thawed](ctx, s.target, &agent.Thaw{Key: key})
}

// ThawTail is Thaw with only the last tail entries.
func (s Agents) ThawTail(ctx context.Context, key string, tail uint64) (*agent.Thawed, error) {
	return ask[*agent.Thawed](ctx, s.target, &agent.Thaw{Key: key, Tail: &tail})
}

// ThawRevision is Thaw of a kept older revision of the checkpoint, with the thread at
// its pointer. The error not_found says which revisions are kept.
func (s Agents) ThawRevision(ctx context.Context, key string, revision uint64) (*agent.Thawed, error) {
	return ask[*agent.Thawed](ctx, s.target, &agent.Thaw{Key: key, Revision: revision})
}

// ForkAgent copies an agent: its checkpoint at a kept revision, its thread at that
// checkpoint's pointer, its memories, and a session if one is named. already_exists if
// one of the new ids is in use.
func (s Agents) ForkAgent(ctx context.Context, fork agent.ForkAgent) (*agent.ForkedAgent, error) {
	return do[*agent.ForkedAgent](ctx, s.target, &fork)
}

// EraseAgent erases an agent, and waits until the erasure is complete. If ctx ends
// first or the receipt cannot be read, it returns the last receipt with the error. The
// agent is erased in that case too, and the cluster continues the removal: GetErasure
// reads its progress. An error without a receipt is that of the commit.
func (s Agents) EraseAgent(ctx context.Context, erase agent.EraseAgent) (*agent.Erasure, error) {
	receipt, err := do[*agent.Erasure](ctx, s.target, &erase)
	if err != nil {
		return nil, err
	}
	return agent.AwaitErasure(ctx, receipt, func(ctx context.Context) (*agent.Erasure, error) { return s.GetErasure(ctx, erase.Agent) })
}

// GetErasure reads the receipt of an erased agent; not_found without one.
func (s Agents) GetErasure(ctx context.Context, name string) (*agent.Erasure, error) {
	return ask[*agent.Erasure](ctx, s.target, &agent.GetErasure{Agent: name})
}
