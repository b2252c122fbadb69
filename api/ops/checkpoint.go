package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var checkpointCodecs = []opCodec{
	codec(encodePutCheckpoint, (*oppb.Op).GetPutCheckpoint, decodePutCheckpoint),
	codec(encodePatchCheckpoint, (*oppb.Op).GetPatchCheckpoint, decodePatchCheckpoint),
	codec(encodeDeleteCheckpoint, (*oppb.Op).GetDeleteCheckpoint, decodeDeleteCheckpoint),
}

func checkpointResultToProto(r *agent.CheckpointResult) *oppb.CheckpointResult {
	return &oppb.CheckpointResult{
		Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Thread: PointerToProto(r.Thread), Skipped: r.Skipped,
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
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Thread: thread, Skipped: r.Skipped,
	}, nil
}

func encodePutCheckpoint(out *oppb.Op, o *agent.PutCheckpoint) {
	out.Op = &oppb.Op_PutCheckpoint{PutCheckpoint: &oppb.PutCheckpoint{
		Key: o.Key, Version: o.Version, State: o.State, Thread: PointerToProto(o.Thread),
		Lifecycle: o.Lifecycle, Metadata: o.Metadata, TtlMs: Millis(o.TTL),
		IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, SkipExisting: o.SkipExisting,
	}}
}

func decodePutCheckpoint(p *oppb.PutCheckpoint) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", p.TtlMs)
	if err != nil {
		return nil, err
	}
	thread, err := PointerFromProto(p.Thread)
	if err != nil {
		return nil, err
	}
	return &agent.PutCheckpoint{
		Key: p.Key, Version: p.Version, State: JSON(p.State), Thread: thread, Lifecycle: p.Lifecycle,
		Metadata: JSON(p.Metadata), TTL: ttl, IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation,
		SkipExisting: p.SkipExisting,
	}, nil
}

func encodePatchCheckpoint(out *oppb.Op, o *agent.PatchCheckpoint) {
	out.Op = &oppb.Op_PatchCheckpoint{PatchCheckpoint: &oppb.PatchCheckpoint{
		Key: o.Key, Patch: o.Patch, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, Upsert: o.Upsert, Shallow: o.Shallow,
	}}
}

func decodePatchCheckpoint(p *oppb.PatchCheckpoint) (agent.Op, error) {
	return &agent.PatchCheckpoint{
		Key: p.Key, Patch: JSON(p.Patch), IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation, Upsert: p.Upsert, Shallow: p.Shallow,
	}, nil
}

func encodeDeleteCheckpoint(out *oppb.Op, o *agent.DeleteCheckpoint) {
	out.Op = &oppb.Op_DeleteCheckpoint{DeleteCheckpoint: &oppb.DeleteCheckpoint{
		Key: o.Key, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, SealMs: Millis(o.Seal),
	}}
}

func decodeDeleteCheckpoint(d *oppb.DeleteCheckpoint) (agent.Op, error) {
	seal, err := Duration("seal_ms", d.SealMs)
	if err != nil {
		return nil, err
	}
	return &agent.DeleteCheckpoint{Key: d.Key, IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation, Seal: seal}, nil
}
