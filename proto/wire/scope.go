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

func importScopeToProto(o *agent.ImportScope) *apipb.ImportScope {
	out := &apipb.ImportScope{Import: o.ID, Minted: o.Minted, Chunk: o.Chunk, Rows: o.Rows, Finish: o.Finish}
	if o.Scope != nil {
		out.Scope = scopeToProto(o.Scope)
	}
	return out
}

func importScopeFromProto(o *apipb.ImportScope) *agent.ImportScope {
	out := &agent.ImportScope{ID: o.Import, Minted: o.Minted, Chunk: o.Chunk, Rows: o.Rows, Finish: o.Finish}
	if o.Scope != nil {
		scope := scopeFromProto(o.Scope)
		out.Scope = &scope
	}
	return out
}

// ScopePartToProto converts one message of an export.
func ScopePartToProto(p agent.ScopePart) *apipb.ExportScopeChunk {
	out := &apipb.ExportScopeChunk{Rows: p.Rows}
	if h := p.Header; h != nil {
		out.Header = &apipb.ScopeHeader{
			ClusterId: h.ClusterID, Scope: scopeToProto(&h.Scope), Index: h.Index, Minted: h.Minted, FeatureLevel: h.FeatureLevel,
			RowFormat: h.RowFormat, TimeMs: h.Time, Import: h.Import,
		}
	}
	return out
}

// ScopePartFromProto is the inverse of ScopePartToProto.
func ScopePartFromProto(p *apipb.ExportScopeChunk) agent.ScopePart {
	out := agent.ScopePart{Rows: p.GetRows()}
	if h := p.GetHeader(); h != nil {
		out.Header = &agent.ScopeHeader{
			ClusterID: h.ClusterId, Scope: scopeFromProto(h.Scope), Index: h.Index, Minted: h.Minted, FeatureLevel: h.FeatureLevel,
			RowFormat: h.RowFormat, Time: h.TimeMs, Import: h.Import,
		}
	}
	return out
}
