package wire

import (
	"dormouse/agent"
	apipb "dormouse/proto/api"
)

func policyToProto(p agent.Policy) *apipb.Policy {
	return &apipb.Policy{
		History: p.History, KeysMax: p.KeysMax, BytesMax: p.BytesMax, MemoriesMax: p.MemoriesMax, MemoryBytesMax: p.MemoryBytesMax,
		ChangesMax: p.ChangesMax, HistoryAgeMs: p.HistoryAgeMS,
	}
}

func policyFromProto(p *apipb.Policy) agent.Policy {
	return agent.Policy{
		History: p.GetHistory(), KeysMax: p.GetKeysMax(), BytesMax: p.GetBytesMax(),
		MemoriesMax: p.GetMemoriesMax(), MemoryBytesMax: p.GetMemoryBytesMax(),
		ChangesMax: p.GetChangesMax(), HistoryAgeMS: p.GetHistoryAgeMs(),
	}
}

func scopeToProto(s *agent.Scope) *apipb.Scope {
	return &apipb.Scope{
		Name: s.Name, Keys: s.Keys, Bytes: s.Bytes, CreatedAt: s.CreatedAt, Policy: policyToProto(s.Policy),
	}
}

func scopeFromProto(s *apipb.Scope) agent.Scope {
	return agent.Scope{
		Name: s.GetName(), Keys: s.GetKeys(), Bytes: s.GetBytes(), CreatedAt: s.GetCreatedAt(),
		Policy: policyFromProto(s.GetPolicy()),
	}
}

func scopeListToProto(l *agent.ScopeList) *apipb.ScopeList {
	out := &apipb.ScopeList{Items: make([]*apipb.Scope, len(l.Items)), Next: l.Next}
	for i := range l.Items {
		out.Items[i] = scopeToProto(&l.Items[i])
	}
	return out
}

func scopeListFromProto(l *apipb.ScopeList) *agent.ScopeList {
	out := &agent.ScopeList{Items: make([]agent.Scope, len(l.GetItems())), Next: l.GetNext()}
	for i, s := range l.GetItems() {
		out.Items[i] = scopeFromProto(s)
	}
	return out
}
