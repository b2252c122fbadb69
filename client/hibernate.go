package client

import (
	"context"

	"dormouse/agent"
)

// Hibernate appends what the journal lacks of an agent's thread and puts its
// checkpoint, in one commit. thread is nil for an agent without one; where put
// names no pointer it points to thread's rev.
func (s Scope) Hibernate(ctx context.Context, put agent.PutCheckpoint, thread *agent.HibernateThread) (*agent.CheckpointResult, error) {
	if thread == nil {
		return s.PutCheckpoint(ctx, put)
	}
	if put.Thread == nil {
		put.Thread = &agent.Pointer{Thread: thread.Thread, Rev: thread.Rev}
	}
	return doLast[*agent.CheckpointResult](ctx, s, thread, &put)
}

// Thaw reads an agent's checkpoint and the thread that it points to, whole, at
// one index. It fails closed: missing_thread and thread_mismatch are errors.
func (s Scope) Thaw(ctx context.Context, key string) (*agent.Thawed, error) {
	return ask[*agent.Thawed](ctx, s, &agent.Thaw{Key: key})
}

// ThawTail is Thaw with only the last so many entries.
func (s Scope) ThawTail(ctx context.Context, key string, tail uint64) (*agent.Thawed, error) {
	return ask[*agent.Thawed](ctx, s, &agent.Thaw{Key: key, Tail: &tail})
}
