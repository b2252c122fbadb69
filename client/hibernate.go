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
// index. missing_thread and thread_mismatch are errors.
func (s Agents) Thaw(ctx context.Context, key string) (*agent.Thawed, error) {
	return ask[*agent.Thawed](ctx, s.target, &agent.Thaw{Key: key})
}

// ThawTail is Thaw with only the last tail entries.
func (s Agents) ThawTail(ctx context.Context, key string, tail uint64) (*agent.Thawed, error) {
	return ask[*agent.Thawed](ctx, s.target, &agent.Thaw{Key: key, Tail: &tail})
}
