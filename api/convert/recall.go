package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

func recallToProto(r *agent.Recall) *apipb.Recall {
	f := &r.Filter
	return &apipb.Recall{
		Agent: r.Agent, Session: r.Session, Within: r.Within, Mode: r.Mode, Query: r.Query, Embedding: r.Embedding, Limit: r.Limit,
		Filter: &apipb.MemoryFilter{
			Classes: f.Classes, Kinds: f.Kinds, TagsAny: f.TagsAny, TagsAll: f.TagsAll, Contains: f.Contains, Since: f.Since, Until: f.Until,
		},
		Ascending: r.Ascending, Metadata: r.Metadata,
	}
}

func recallFromProto(r *apipb.Recall) *agent.Recall {
	if r == nil {
		return &agent.Recall{}
	}
	out := &agent.Recall{
		Agent: r.Agent, Session: r.Session, Within: r.Within, Mode: r.Mode, Query: r.Query, Embedding: r.Embedding, Limit: r.Limit,
		Ascending: r.Ascending, Metadata: ops.JSON(r.Metadata),
	}
	if f := r.Filter; f != nil {
		out.Filter = agent.MemoryFilter{
			Classes: f.Classes, Kinds: f.Kinds, TagsAny: f.TagsAny, TagsAll: f.TagsAll, Contains: f.Contains, Since: f.Since, Until: f.Until,
		}
	}
	return out
}

func recalledToProto(r *agent.Recalled) *apipb.Recalled {
	out := &apipb.Recalled{
		Request: recallToProto(&r.Request), Items: make([]*apipb.RecalledMemory, len(r.Items)), Entries: r.Entries, Matched: r.Matched,
	}
	for i := range r.Items {
		out.Items[i] = &apipb.RecalledMemory{Memory: memoryToProto(&r.Items[i].Memory), Score: r.Items[i].Score}
	}
	return out
}

func recalledFromProto(r *apipb.Recalled) *agent.Recalled {
	out := &agent.Recalled{
		Request: *recallFromProto(r.GetRequest()), Items: make([]agent.RecalledMemory, len(r.GetItems())),
		Entries: r.GetEntries(), Matched: r.GetMatched(),
	}
	for i, item := range r.GetItems() {
		out.Items[i] = agent.RecalledMemory{Memory: *memoryFromProto(item.GetMemory()), Score: item.GetScore()}
	}
	return out
}
