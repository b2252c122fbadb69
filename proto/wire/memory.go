package wire

import (
	"dormouse/agent"
	apipb "dormouse/proto/api"
)

func writeMemoryToProto(o *agent.WriteMemory) *apipb.WriteMemory {
	return &apipb.WriteMemory{
		Agent: o.Agent, Id: o.ID, Session: o.Session, Class: o.Class, Kind: o.Kind, Content: o.Content, Data: o.Data, Tags: o.Tags,
		Source: o.Source, Metadata: o.Metadata, Embedding: o.Embedding, ObservedAt: o.ObservedAt, ExpiresAt: o.ExpiresAt,
		TtlMs: millis(o.TTL), IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
	}
}

func writeMemoryFromProto(o *apipb.WriteMemory) (agent.Op, error) {
	if o == nil {
		return nil, noKind()
	}
	ttl, err := duration("ttl_ms", o.TtlMs)
	if err != nil {
		return nil, err
	}
	return &agent.WriteMemory{
		Agent: o.Agent, ID: o.Id, Session: o.Session, Class: o.Class, Kind: o.Kind, Content: o.Content, Data: json(o.Data), Tags: o.Tags,
		Source: o.Source, Metadata: json(o.Metadata), Embedding: o.Embedding, ObservedAt: o.ObservedAt, ExpiresAt: o.ExpiresAt,
		TTL: ttl, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
	}, nil
}

func deleteMemoryToProto(o *agent.DeleteMemory) *apipb.DeleteMemory {
	return &apipb.DeleteMemory{
		Agent: o.Agent, Id: o.ID, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, SealMs: millis(o.Seal),
	}
}

func deleteMemoryFromProto(o *apipb.DeleteMemory) (agent.Op, error) {
	if o == nil {
		return nil, noKind()
	}
	seal, err := duration("seal_ms", o.SealMs)
	if err != nil {
		return nil, err
	}
	return &agent.DeleteMemory{Agent: o.Agent, ID: o.Id, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, Seal: seal}, nil
}

func memoryResultToProto(r *agent.MemoryResult) *apipb.MemoryResult {
	return &apipb.MemoryResult{
		Agent: r.Agent, Id: r.ID, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

func memoryResultFromProto(r *apipb.MemoryResult) *agent.MemoryResult {
	return &agent.MemoryResult{
		Agent: r.Agent, ID: r.Id, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

func listMemoriesToProto(r *agent.ListMemories) *apipb.ListMemories {
	return &apipb.ListMemories{Agent: r.Agent, Prefix: r.Prefix, After: r.After, Limit: r.Limit}
}

func listMemoriesFromProto(r *apipb.ListMemories) agent.Read {
	return &agent.ListMemories{
		Agent: r.GetAgent(), Page: agent.Page{Prefix: r.GetPrefix(), After: r.GetAfter(), Limit: r.GetLimit()},
	}
}

func memoryToProto(m *agent.Memory) *apipb.Memory {
	return &apipb.Memory{
		Agent: m.Agent, Id: m.ID, Incarnation: m.Incarnation, Revision: m.Revision, Session: m.Session, Class: m.Class, Kind: m.Kind,
		Content: m.Content, Data: m.Data, Tags: m.Tags, Source: m.Source, Metadata: m.Metadata, Embedding: m.Embedding,
		ObservedAt: m.ObservedAt, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, ExpiresAt: m.ExpiresAt,
	}
}

func memoryFromProto(m *apipb.Memory) *agent.Memory {
	return &agent.Memory{
		Agent: m.GetAgent(), ID: m.GetId(), Incarnation: m.GetIncarnation(), Revision: m.GetRevision(), Session: m.GetSession(),
		Class: m.GetClass(), Kind: m.GetKind(), Content: m.GetContent(), Data: json(m.GetData()), Tags: m.GetTags(), Source: m.GetSource(),
		Metadata: json(m.GetMetadata()), Embedding: m.GetEmbedding(),
		ObservedAt: m.GetObservedAt(), CreatedAt: m.GetCreatedAt(), UpdatedAt: m.GetUpdatedAt(), ExpiresAt: m.GetExpiresAt(),
	}
}

func memoryListToProto(l *agent.MemoryList) *apipb.MemoryList {
	out := &apipb.MemoryList{Items: make([]*apipb.Memory, len(l.Items)), Next: l.Next}
	for i := range l.Items {
		out.Items[i] = memoryToProto(&l.Items[i])
	}
	return out
}

func memoryListFromProto(l *apipb.MemoryList) *agent.MemoryList {
	out := &agent.MemoryList{Items: make([]agent.Memory, len(l.GetItems())), Next: l.GetNext()}
	for i, m := range l.GetItems() {
		out.Items[i] = *memoryFromProto(m)
	}
	return out
}
