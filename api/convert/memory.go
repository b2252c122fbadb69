package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

func listMemoriesToProto(r *agent.ListMemories) *apipb.ListMemories {
	return &apipb.ListMemories{Agent: r.Agent, Prefix: r.Prefix, After: r.After, Limit: r.Limit, Order: string(r.Order), Since: r.Since, Until: r.Until}
}

func listMemoriesFromProto(r *apipb.ListMemories) agent.Read {
	return &agent.ListMemories{
		Agent: r.GetAgent(), Page: pageFromProto(r),
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
		Class: m.GetClass(), Kind: m.GetKind(), Content: m.GetContent(), Data: ops.JSON(m.GetData()), Tags: m.GetTags(), Source: m.GetSource(),
		Metadata: ops.JSON(m.GetMetadata()), Embedding: m.GetEmbedding(),
		ObservedAt: m.GetObservedAt(), CreatedAt: m.GetCreatedAt(), UpdatedAt: m.GetUpdatedAt(), ExpiresAt: m.GetExpiresAt(),
	}
}
