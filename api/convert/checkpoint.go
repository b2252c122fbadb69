package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

func checkpointToProto(c *agent.Checkpoint) *apipb.Checkpoint {
	return &apipb.Checkpoint{
		Key: c.Key, Incarnation: c.Incarnation, Revision: c.Revision, Version: c.Version, State: c.State,
		Thread: ops.PointerToProto(c.Thread), Lifecycle: c.Lifecycle, Metadata: c.Metadata,
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, ExpiresAt: c.ExpiresAt,
	}
}

func checkpointFromProto(c *apipb.Checkpoint) (*agent.Checkpoint, error) {
	if c == nil {
		return nil, ops.NoAnswer()
	}
	thread, err := ops.PointerFromProto(c.Thread)
	if err != nil {
		return nil, err
	}
	return &agent.Checkpoint{
		Key: c.Key, Incarnation: c.Incarnation, Revision: c.Revision, Version: c.Version, State: ops.JSON(c.State),
		Thread: thread, Lifecycle: c.Lifecycle, Metadata: ops.JSON(c.Metadata),
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, ExpiresAt: c.ExpiresAt,
	}, nil
}

func checkpointListToProto(l *agent.CheckpointList) *apipb.CheckpointList {
	slab := make([]apipb.CheckpointRow, len(l.Items))
	out := &apipb.CheckpointList{Items: make([]*apipb.CheckpointRow, len(l.Items)), Next: l.Next}
	for i := range l.Items {
		r, m := &l.Items[i], &slab[i]
		m.Key, m.Incarnation, m.Revision, m.Bytes = r.Key, r.Incarnation, r.Revision, r.Bytes
		m.Thread, m.Lifecycle, m.UpdatedAt, m.ExpiresAt = ops.PointerToProto(r.Thread), r.Lifecycle, r.UpdatedAt, r.ExpiresAt
		m.State, m.Metadata = r.State, r.Metadata
		out.Items[i] = m
	}
	return out
}

func checkpointListFromProto(l *apipb.CheckpointList) (agent.Found, error) {
	out := &agent.CheckpointList{Items: make([]agent.CheckpointRow, len(l.GetItems())), Next: l.GetNext()}
	for i, r := range l.GetItems() {
		if r == nil {
			return nil, ops.NoAnswer()
		}
		thread, err := ops.PointerFromProto(r.Thread)
		if err != nil {
			return nil, err
		}
		out.Items[i] = agent.CheckpointRow{
			Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, Bytes: r.Bytes, Thread: thread,
			Lifecycle: r.Lifecycle, UpdatedAt: r.UpdatedAt, ExpiresAt: r.ExpiresAt,
			State: ops.JSON(r.State), Metadata: ops.JSON(r.Metadata),
		}
	}
	return out, nil
}
