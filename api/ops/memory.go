package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var memoryCodecs = []opCodec{
	codec(encodeWriteMemory, (*oppb.Op).GetWriteMemory, decodeWriteMemory),
	codec(encodeDeleteMemory, (*oppb.Op).GetDeleteMemory, decodeDeleteMemory),
}

func writeMemoryToProto(o *agent.WriteMemory) *oppb.WriteMemory {
	return &oppb.WriteMemory{
		Agent: o.Agent, Id: o.ID, Session: o.Session, Class: o.Class, Kind: o.Kind, Content: o.Content, Data: o.Data, Tags: o.Tags,
		Source: o.Source, Metadata: o.Metadata, Embedding: o.Embedding, ObservedAt: o.ObservedAt, ExpiresAt: o.ExpiresAt,
		TtlMs: Millis(o.TTL), IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
	}
}

func deleteMemoryToProto(o *agent.DeleteMemory) *oppb.DeleteMemory {
	return &oppb.DeleteMemory{
		Agent: o.Agent, Id: o.ID, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, SealMs: Millis(o.Seal),
	}
}

func memoryResultToProto(r *agent.MemoryResult) *oppb.MemoryResult {
	return &oppb.MemoryResult{
		Agent: r.Agent, Id: r.ID, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

func memoryResultFromProto(r *oppb.MemoryResult) *agent.MemoryResult {
	return &agent.MemoryResult{
		Agent: r.Agent, ID: r.Id, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

func encodeWriteMemory(out *oppb.Op, o *agent.WriteMemory) {
	out.Op = &oppb.Op_WriteMemory{WriteMemory: writeMemoryToProto(o)}
}

func decodeWriteMemory(o *oppb.WriteMemory) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", o.TtlMs)
	if err != nil {
		return nil, err
	}
	return &agent.WriteMemory{
		Agent: o.Agent, ID: o.Id, Session: o.Session, Class: o.Class, Kind: o.Kind, Content: o.Content, Data: JSON(o.Data), Tags: o.Tags,
		Source: o.Source, Metadata: JSON(o.Metadata), Embedding: o.Embedding, ObservedAt: o.ObservedAt, ExpiresAt: o.ExpiresAt,
		TTL: ttl, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
	}, nil
}

func encodeDeleteMemory(out *oppb.Op, o *agent.DeleteMemory) {
	out.Op = &oppb.Op_DeleteMemory{DeleteMemory: deleteMemoryToProto(o)}
}

func decodeDeleteMemory(o *oppb.DeleteMemory) (agent.Op, error) {
	seal, err := Duration("seal_ms", o.SealMs)
	if err != nil {
		return nil, err
	}
	return &agent.DeleteMemory{Agent: o.Agent, ID: o.Id, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, Seal: seal}, nil
}
