package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var scopeCodecs = []opCodec{
	codec(encodePutScope, (*oppb.Op).GetPutScope, decodePutScope),
	codec(encodeDeleteScope, (*oppb.Op).GetDeleteScope, decodeDeleteScope),
	codec(encodeIndexMetadata, (*oppb.Op).GetIndexMetadata, decodeIndexMetadata),
	codec(encodeImportScope, (*oppb.Op).GetImportScope, decodeImportScope),
}

// PolicyToProto converts a policy to protobuf.
func PolicyToProto(p agent.Policy) *oppb.Policy {
	return &oppb.Policy{
		History: p.History, KeysMax: p.KeysMax, BytesMax: p.BytesMax, MemoriesMax: p.MemoriesMax, MemoryBytesMax: p.MemoryBytesMax,
		ChangesMax: p.ChangesMax, HistoryAgeMs: p.HistoryAgeMS,
		AgentsMax: p.AgentsMax, ThreadsMax: p.ThreadsMax, EntriesMax: p.EntriesMax, TimersMax: p.TimersMax,
		RequestsPerSecond: p.RequestsPerSecond, BytesPerSecond: p.BytesPerSecond, WatchesMax: p.WatchesMax, AwakeMax: p.AwakeMax,
	}
}

// PolicyFromProto converts a policy from protobuf.
func PolicyFromProto(p *oppb.Policy) agent.Policy {
	return agent.Policy{
		History: p.GetHistory(), KeysMax: p.GetKeysMax(), BytesMax: p.GetBytesMax(),
		MemoriesMax: p.GetMemoriesMax(), MemoryBytesMax: p.GetMemoryBytesMax(),
		ChangesMax: p.GetChangesMax(), HistoryAgeMS: p.GetHistoryAgeMs(),
		AgentsMax: p.GetAgentsMax(), ThreadsMax: p.GetThreadsMax(), EntriesMax: p.GetEntriesMax(), TimersMax: p.GetTimersMax(),
		RequestsPerSecond: p.GetRequestsPerSecond(), BytesPerSecond: p.GetBytesPerSecond(), WatchesMax: p.GetWatchesMax(), AwakeMax: p.GetAwakeMax(),
	}
}

// ScopeToProto converts a scope to protobuf.
func ScopeToProto(s *agent.Scope) *oppb.Scope {
	return &oppb.Scope{
		Name: s.Name, Keys: s.Keys, Bytes: s.Bytes, CreatedAt: s.CreatedAt, Policy: PolicyToProto(s.Policy), OwnPolicy: s.OwnPolicy,
		Agents: s.Agents, Threads: s.Threads, Entries: s.Entries, Timers: s.Timers,
		MetadataKeys: s.MetadataKeys, MetadataBuilding: s.MetadataBuilding,
	}
}

// ScopeFromProto converts a scope from protobuf.
func ScopeFromProto(s *oppb.Scope) agent.Scope {
	return agent.Scope{
		Name: s.GetName(), Keys: s.GetKeys(), Bytes: s.GetBytes(), CreatedAt: s.GetCreatedAt(),
		Policy: PolicyFromProto(s.GetPolicy()), OwnPolicy: s.GetOwnPolicy(),
		Agents: s.GetAgents(), Threads: s.GetThreads(), Entries: s.GetEntries(), Timers: s.GetTimers(),
		MetadataKeys: s.GetMetadataKeys(), MetadataBuilding: s.GetMetadataBuilding(),
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
	put := &oppb.PutScope{Policy: PolicyToProto(o.Policy), Default: o.Default, UseDefault: o.UseDefault}
	if o.IfPolicy != nil {
		put.IfPolicy = PolicyToProto(*o.IfPolicy)
	}
	out.Op = &oppb.Op_PutScope{PutScope: put}
}

func decodePutScope(p *oppb.PutScope) (agent.Op, error) {
	put := &agent.PutScope{Policy: PolicyFromProto(p.Policy), Default: p.Default, UseDefault: p.UseDefault}
	if p.IfPolicy != nil {
		policy := PolicyFromProto(p.IfPolicy)
		put.IfPolicy = &policy
	}
	return put, nil
}

func encodeIndexMetadata(out *oppb.Op, o *agent.IndexMetadata) {
	out.Op = &oppb.Op_IndexMetadata{IndexMetadata: &oppb.IndexMetadata{Keys: o.Keys}}
}

func decodeIndexMetadata(p *oppb.IndexMetadata) (agent.Op, error) {
	return &agent.IndexMetadata{Keys: p.Keys}, nil
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
