package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

func scopeListFromProto(l *apipb.ScopeList) *agent.ScopeList {
	out := &agent.ScopeList{Items: make([]agent.Scope, len(l.GetItems())), Next: l.GetNext()}
	for i, s := range l.GetItems() {
		out.Items[i] = ops.ScopeFromProto(s)
	}
	return out
}

// ScopePartToProto converts one message of an export.
func ScopePartToProto(p agent.ScopePart) *apipb.ExportScopeChunk {
	out := &apipb.ExportScopeChunk{Rows: p.Rows}
	if h := p.Header; h != nil {
		out.Header = &apipb.ScopeHeader{
			ClusterId: h.ClusterID, Scope: ops.ScopeToProto(&h.Scope), Index: h.Index, Minted: h.Minted, FeatureLevel: h.FeatureLevel,
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
			ClusterID: h.ClusterId, Scope: ops.ScopeFromProto(h.Scope), Index: h.Index, Minted: h.Minted, FeatureLevel: h.FeatureLevel,
			RowFormat: h.RowFormat, Time: h.TimeMs, Import: h.Import,
		}
	}
	return out
}
