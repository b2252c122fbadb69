package command

import (
	"fmt"

	"dormouse/agent"
	"dormouse/api/ops"
	logpb "dormouse/proto/log"
	oppb "dormouse/proto/op"
)

// FitOutcome encodes the results of a commit, as EncodeOutcome does. If bounded is set, it refuses
// results that are too large to keep.
func FitOutcome(r agent.Result, bounded bool) ([]byte, error) {
	outcome := EncodeOutcome(agent.Decided{Result: r})
	if n := len(outcome); bounded && n > agent.OutcomeBytesMax {
		e := agent.TooLarge("ops", "outcome_bytes_max", n, agent.OutcomeBytesMax)
		e.Detail = fmt.Sprintf("the results of the commit have %d bytes, and may have %d: send fewer ops in one commit", n, agent.OutcomeBytesMax)
		return nil, e
	}
	return outcome, nil
}

// EncodeOutcome encodes the decision on a commit, for the row of its request.
func EncodeOutcome(d agent.Decided) []byte {
	p := &logpb.Outcome{Index: d.Result.Index, TimeMs: d.Result.Time, Refusal: ops.ErrorToProto(d.Err)}
	if n := len(d.Result.Results); n > 0 {
		block := make([]oppb.OpResult, n) // one allocation for all
		p.Results = make([]*oppb.OpResult, n)
		for i, result := range d.Result.Results {
			ops.ResultToProto(&block[i], result)
			p.Results[i] = &block[i]
		}
	}
	return Marshal(p)
}

// DecodeOutcome is the inverse of EncodeOutcome. A refusal is final, since it was decided in the
// log.
func DecodeOutcome(raw []byte) (agent.Decided, error) {
	p := &logpb.Outcome{}
	if err := Unmarshal(raw, p); err != nil {
		return agent.Decided{}, fmt.Errorf("decode outcome: %w", err)
	}
	if p.Refusal != nil {
		refusal := ops.ErrorFromProto(p.Refusal)
		refusal.Final = true
		return agent.Decided{Err: refusal}, nil
	}
	d := agent.Decided{Result: agent.Result{Index: p.Index, Time: p.TimeMs}}
	for i, r := range p.Results {
		result, err := ops.ResultFromProto(r)
		if err != nil {
			return agent.Decided{}, fmt.Errorf("decode result %d: %w", i, err)
		}
		d.Result.Results = append(d.Result.Results, result)
	}
	return d, nil
}

// DecodeThread returns a thread's row as callers see it.
func DecodeThread(p *logpb.ThreadMeta) (agent.Thread, error) {
	t := agent.Thread{
		ID: p.GetId(), Incarnation: p.GetIncarnation(), Rev: p.GetRev(), Floor: p.GetFloor(), Summary: p.GetSummary(),
		CreatedAt: p.GetCreatedAt(), UpdatedAt: p.GetUpdatedAt(), Metadata: p.GetMetadata(), ExpiresAt: p.GetExpiresAt(),
	}
	if len(p.GetHead()) != len(t.Head) {
		return agent.Thread{}, fmt.Errorf("decode thread %q: its head has %d bytes", t.ID, len(p.GetHead()))
	}
	copy(t.Head[:], p.Head)
	if f := p.ForkedFrom; f != nil {
		t.ForkedFrom = &agent.ForkPoint{Thread: f.Thread, Incarnation: f.Incarnation, Rev: f.Rev}
	}
	return t, nil
}

// EncodeScope converts a scope and its policy.
func EncodeScope(s agent.Scope) *logpb.ScopeRecord {
	record := &logpb.ScopeRecord{
		Name: s.Name, Keys: s.Keys, Bytes: s.Bytes, CreatedAt: s.CreatedAt,
		History: s.Policy.History, KeysMax: s.Policy.KeysMax, BytesMax: s.Policy.BytesMax,
		MemoriesMax: s.Policy.MemoriesMax, MemoryBytesMax: s.Policy.MemoryBytesMax, ChangesMax: s.Policy.ChangesMax,
		HistoryAgeMs: s.Policy.HistoryAgeMS,
		Agents:       s.Agents, Threads: s.Threads, Entries: s.Entries, Timers: s.Timers, OwnPolicy: s.OwnPolicy,
		MetadataKeys: s.MetadataKeys, MetadataBuilding: s.MetadataBuilding,
	}
	if p := s.Policy; p != p.Legacy() {
		record.Limits = &oppb.Policy{
			AgentsMax: p.AgentsMax, ThreadsMax: p.ThreadsMax, EntriesMax: p.EntriesMax, TimersMax: p.TimersMax,
			RequestsPerSecond: p.RequestsPerSecond, BytesPerSecond: p.BytesPerSecond, WatchesMax: p.WatchesMax, AwakeMax: p.AwakeMax,
		}
	}
	return record
}

// DecodeScope is the inverse of EncodeScope.
func DecodeScope(p *logpb.ScopeRecord) agent.Scope {
	limits := p.GetLimits()
	return agent.Scope{
		Name: p.GetName(), Keys: p.GetKeys(), Bytes: p.GetBytes(), CreatedAt: p.GetCreatedAt(), OwnPolicy: p.GetOwnPolicy(),
		Agents: p.GetAgents(), Threads: p.GetThreads(), Entries: p.GetEntries(), Timers: p.GetTimers(),
		MetadataKeys: p.GetMetadataKeys(), MetadataBuilding: p.GetMetadataBuilding(),
		Policy: agent.Policy{
			History: p.GetHistory(), KeysMax: p.GetKeysMax(), BytesMax: p.GetBytesMax(),
			MemoriesMax: p.GetMemoriesMax(), MemoryBytesMax: p.GetMemoryBytesMax(), ChangesMax: p.GetChangesMax(),
			HistoryAgeMS: p.GetHistoryAgeMs(),
			AgentsMax:    limits.GetAgentsMax(), ThreadsMax: limits.GetThreadsMax(), EntriesMax: limits.GetEntriesMax(), TimersMax: limits.GetTimersMax(),
			RequestsPerSecond: limits.GetRequestsPerSecond(), BytesPerSecond: limits.GetBytesPerSecond(),
			WatchesMax: limits.GetWatchesMax(), AwakeMax: limits.GetAwakeMax(),
		},
	}
}
