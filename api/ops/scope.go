package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var scopeCodecs = []opCodec{
	codec(encodePutScope, (*oppb.Op).GetPutScope, decodePutScope),
	codec(encodeDeleteScope, (*oppb.Op).GetDeleteScope, decodeDeleteScope),
	codec(encodeImportScope, (*oppb.Op).GetImportScope, decodeImportScope),
}

func policyToProto(p agent.Policy) *oppb.Policy {
	return &oppb.Policy{
		History: p.History, KeysMax: p.KeysMax, BytesMax: p.BytesMax, MemoriesMax: p.MemoriesMax, MemoryBytesMax: p.MemoryBytesMax,
		ChangesMax: p.ChangesMax, HistoryAgeMs: p.HistoryAgeMS,
	}
}

func policyFromProto(p *oppb.Policy) agent.Policy {
	return agent.Policy{
		History: p.GetHistory(), KeysMax: p.GetKeysMax(), BytesMax: p.GetBytesMax(),
		MemoriesMax: p.GetMemoriesMax(), MemoryBytesMax: p.GetMemoryBytesMax(),
		ChangesMax: p.GetChangesMax(), HistoryAgeMS: p.GetHistoryAgeMs(),
	}
}

// ScopeToProto converts a scope to protobuf.
func ScopeToProto(s *agent.Scope) *oppb.Scope {
	return &oppb.Scope{
		Name: s.Name, Keys: s.Keys, Bytes: s.Bytes, CreatedAt: s.CreatedAt, Policy: policyToProto(s.Policy),
	}
}

// ScopeFromProto converts a scope from protobuf.
func ScopeFromProto(s *oppb.Scope) agent.Scope {
	return agent.Scope{
		Name: s.GetName(), Keys: s.GetKeys(), Bytes: s.GetBytes(), CreatedAt: s.GetCreatedAt(),
		Policy: policyFromProto(s.GetPolicy()),
	}
}

func importScopeToProto(o *agent.ImportScope) *oppb.ImportScope {
	out := &oppb.ImportScope{Import: o.ID, Minted: o.Minted, Chunk: o.Chunk, Rows: o.Rows, Finish: o.Finish}
	if o.Scope != nil {
		out.Scope = ScopeToProto(o.Scope)
	}
	return out
}

func encodePutScope(out *oppb.Op, o *agent.PutScope) {
	out.Op = &oppb.Op_PutScope{PutScope: &oppb.PutScope{Policy: policyToProto(o.Policy)}}
}

func decodePutScope(p *oppb.PutScope) (agent.Op, error) {
	return &agent.PutScope{Policy: policyFromProto(p.Policy)}, nil
}

func encodeDeleteScope(out *oppb.Op, _ *agent.DeleteScope) {
	out.Op = &oppb.Op_DeleteScope{DeleteScope: &oppb.DeleteScope{}}
}

func decodeDeleteScope(_ *oppb.DeleteScope) (agent.Op, error) {
	return &agent.DeleteScope{}, nil
}

func encodeImportScope(out *oppb.Op, o *agent.ImportScope) {
	out.Op = &oppb.Op_ImportScope{ImportScope: importScopeToProto(o)}
}

func decodeImportScope(o *oppb.ImportScope) (agent.Op, error) {
	out := &agent.ImportScope{ID: o.Import, Minted: o.Minted, Chunk: o.Chunk, Rows: o.Rows, Finish: o.Finish}
	if o.Scope != nil {
		scope := ScopeFromProto(o.Scope)
		out.Scope = &scope
	}
	return out, nil
}
