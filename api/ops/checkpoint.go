package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

func checkpointResultToProto(r *agent.CheckpointResult) *oppb.CheckpointResult {
	return &oppb.CheckpointResult{
		Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Thread: PointerToProto(r.Thread),
	}
}

func checkpointResultFromProto(r *oppb.CheckpointResult) (*agent.CheckpointResult, error) {
	if r == nil {
		return nil, agent.Errorf(agent.CodeInternal, "the result has no checkpoint")
	}
	thread, err := PointerFromProto(r.Thread)
	if err != nil {
		return nil, err
	}
	return &agent.CheckpointResult{
		Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Thread: thread,
	}, nil
}
