package command

import (
	"fmt"

	"dormouse/agent"
	logpb "dormouse/proto/log"
)

// EncodeOutcome is what a request's row keeps of how its commit was decided.
func EncodeOutcome(d agent.Decided) ([]byte, error) {
	p := &logpb.Outcome{Index: d.Result.Index, TimeMs: d.Result.Time, Refusal: encodeRefusal(d.Err)}
	for i, r := range d.Result.Results {
		result, err := encodeResult(r)
		if err != nil {
			return nil, fmt.Errorf("encode result %d: %w", i, err)
		}
		p.Results = append(p.Results, result)
	}
	raw, err := Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode outcome: %w", err)
	}
	return raw, nil
}

// DecodeOutcome is the inverse of EncodeOutcome.
func DecodeOutcome(raw []byte) (agent.Decided, error) {
	p := &logpb.Outcome{}
	if err := Unmarshal(raw, p); err != nil {
		return agent.Decided{}, fmt.Errorf("decode outcome: %w", err)
	}
	if p.Refusal != nil {
		return agent.Decided{Err: decodeRefusal(p.Refusal)}, nil
	}
	d := agent.Decided{Result: agent.Result{Index: p.Index, Time: p.TimeMs}}
	for i, r := range p.Results {
		result, err := decodeResult(r)
		if err != nil {
			return agent.Decided{}, fmt.Errorf("decode result %d: %w", i, err)
		}
		d.Result.Results = append(d.Result.Results, result)
	}
	return d, nil
}

func encodeResult(r agent.OpResult) (*logpb.OpResult, error) {
	switch r := r.(type) {
	case *agent.ValueResult:
		return &logpb.OpResult{Result: &logpb.OpResult_Value{Value: &logpb.RevisionResult{
			Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		}}}, nil
	case *agent.CheckpointResult:
		p, err := encodeCheckpointResult(r)
		return &logpb.OpResult{Result: &logpb.OpResult_Checkpoint{Checkpoint: p}}, err
	case *agent.ThreadResult:
		p := &logpb.ThreadResult{Thread: EncodeThread(r.Thread)}
		for _, e := range r.Entries {
			p.Entries = append(p.Entries, &logpb.EntryStamp{Id: e.ID, Seq: e.Seq, At: e.At})
		}
		return &logpb.OpResult{Result: &logpb.OpResult_Thread{Thread: p}}, nil
	case *agent.DeleteResult:
		return &logpb.OpResult{Result: &logpb.OpResult_Deleted{Deleted: &logpb.DeleteResult{
			Existed: r.Existed, Incarnation: r.Incarnation,
		}}}, nil
	case *agent.MemoryResult:
		return &logpb.OpResult{Result: &logpb.OpResult_Memory{Memory: &logpb.MemoryResult{
			Agent: r.Agent, Id: r.ID, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		}}}, nil
	case *agent.ManagerResult:
		return &logpb.OpResult{Result: &logpb.OpResult_Manager{Manager: encodeManagerResult(&r.Manager)}}, nil
	case *agent.SignalResult:
		return &logpb.OpResult{Result: &logpb.OpResult_Signal{Signal: &logpb.SignalResult{Hash: r.Hash, Reply: r.Reply}}}, nil
	case *agent.ImportResult:
		return &logpb.OpResult{Result: &logpb.OpResult_Import{Import: &logpb.ImportResult{Chunks: r.Chunks, Done: r.Done}}}, nil
	case *agent.ScopeResult:
		return &logpb.OpResult{Result: &logpb.OpResult_Scope{Scope: &logpb.ScopeResult{Scope: EncodeScope(r.Scope)}}}, nil
	case *agent.ClaimResult:
		v := r.Claim
		return &logpb.OpResult{Result: &logpb.OpResult_Claim{Claim: &logpb.ClaimResult{
			Name: v.Name, Holder: v.Holder, Epoch: v.Epoch, TtlMs: Millis(v.TTL), ClaimedAt: v.ClaimedAt, ExpiresAt: v.ExpiresAt,
		}}}, nil
	case *agent.SessionResult:
		return &logpb.OpResult{Result: &logpb.OpResult_Session{Session: encodeSessionResult(r)}}, nil
	case *agent.ReviewResult:
		return &logpb.OpResult{Result: &logpb.OpResult_Review{Review: &logpb.ReviewResult{Id: r.Review.ID, Review: encodeReview(&r.Review)}}}, nil
	case *agent.ConversationResult:
		return &logpb.OpResult{Result: &logpb.OpResult_Conversation{Conversation: encodeConversationResult(r)}}, nil
	case *agent.MessageResult:
		return &logpb.OpResult{Result: &logpb.OpResult_Message{Message: encodeMessageResult(r)}}, nil
	case *agent.TimerResult:
		return &logpb.OpResult{Result: &logpb.OpResult_Timer{Timer: encodeTimerResult(r)}}, nil
	case *agent.ForkedAgent:
		p, err := encodeForkedAgent(r)
		return &logpb.OpResult{Result: &logpb.OpResult_ForkedAgent{ForkedAgent: p}}, err
	case *agent.Erasure:
		return &logpb.OpResult{Result: &logpb.OpResult_Erasure{Erasure: encodeErasure(r)}}, nil
	default:
		return nil, fmt.Errorf("result of type %T has no place in the log", r)
	}
}

func encodeCheckpointResult(r *agent.CheckpointResult) (*logpb.RevisionResult, error) {
	thread, err := encodePointer(r.Thread)
	return &logpb.RevisionResult{
		Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Thread: thread,
	}, err
}

func decodeCheckpointResult(p *logpb.RevisionResult) agent.CheckpointResult {
	return agent.CheckpointResult{
		Key: p.GetKey(), Incarnation: p.GetIncarnation(), Revision: p.GetRevision(),
		CreatedAt: p.GetCreatedAt(), UpdatedAt: p.GetUpdatedAt(), Thread: DecodePointer(p.GetThread()),
	}
}

func decodeResult(p *logpb.OpResult) (agent.OpResult, error) {
	switch p := p.Result.(type) {
	case *logpb.OpResult_Value:
		v := p.Value
		return &agent.ValueResult{
			Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
		}, nil
	case *logpb.OpResult_Checkpoint:
		r := decodeCheckpointResult(p.Checkpoint)
		return &r, nil
	case *logpb.OpResult_Thread:
		thread, err := DecodeThread(p.Thread.Thread)
		if err != nil {
			return nil, err
		}
		r := &agent.ThreadResult{Thread: thread}
		for _, e := range p.Thread.Entries {
			r.Entries = append(r.Entries, agent.EntryStamp{ID: e.Id, Seq: e.Seq, At: e.At})
		}
		return r, nil
	case *logpb.OpResult_Deleted:
		return &agent.DeleteResult{Existed: p.Deleted.Existed, Incarnation: p.Deleted.Incarnation}, nil
	case *logpb.OpResult_Memory:
		v := p.Memory
		return &agent.MemoryResult{
			Agent: v.Agent, ID: v.Id, Incarnation: v.Incarnation, Revision: v.Revision, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
		}, nil
	case *logpb.OpResult_Manager:
		return &agent.ManagerResult{Manager: *ManagerOf(p.Manager.Name, p.Manager.Manager)}, nil
	case *logpb.OpResult_Signal:
		return &agent.SignalResult{Hash: p.Signal.Hash, Reply: p.Signal.Reply}, nil
	case *logpb.OpResult_Import:
		return &agent.ImportResult{Chunks: p.Import.GetChunks(), Done: p.Import.GetDone()}, nil
	case *logpb.OpResult_Scope:
		return &agent.ScopeResult{Scope: DecodeScope(p.Scope.Scope)}, nil
	case *logpb.OpResult_Claim:
		v := p.Claim
		return &agent.ClaimResult{Claim: agent.Claim{
			Name: v.Name, Holder: v.Holder, Epoch: v.Epoch, TTL: Duration(v.TtlMs), ClaimedAt: v.ClaimedAt, ExpiresAt: v.ExpiresAt,
		}}, nil
	case *logpb.OpResult_Session:
		return decodeSessionResult(p.Session), nil
	case *logpb.OpResult_Review:
		return &agent.ReviewResult{Review: DecodeReview(p.Review.GetId(), p.Review.GetReview())}, nil
	case *logpb.OpResult_Conversation:
		return decodeConversationResult(p.Conversation), nil
	case *logpb.OpResult_Message:
		return &agent.MessageResult{Found: p.Message.GetFound(), Message: decodeMessageStamp(p.Message.GetMessage())}, nil
	case *logpb.OpResult_Timer:
		return decodeTimerResult(p.Timer), nil
	case *logpb.OpResult_ForkedAgent:
		return decodeForkedAgent(p.ForkedAgent)
	case *logpb.OpResult_Erasure:
		return DecodeErasure(p.Erasure.GetAgent(), p.Erasure)
	default:
		return nil, fmt.Errorf("result of type %T is unknown", p)
	}
}

// EncodeThread is what a caller sees of a thread. The row's own fields
// (segments, floor head, bytes, chosen ids) are the row's to fill in.
func EncodeThread(t agent.Thread) *logpb.ThreadMeta {
	p := &logpb.ThreadMeta{
		Id: t.ID, Incarnation: t.Incarnation, Rev: t.Rev, Head: t.Head[:], Floor: t.Floor, Summary: t.Summary,
		CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, Metadata: t.Metadata, ExpiresAt: t.ExpiresAt,
	}
	if f := t.ForkedFrom; f != nil {
		p.ForkedFrom = &logpb.ForkPoint{Thread: f.Thread, Incarnation: f.Incarnation, Rev: f.Rev}
	}
	return p
}

// DecodeThread is what a caller sees of a thread's row.
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
	return &logpb.ScopeRecord{
		Name: s.Name, Keys: s.Keys, Bytes: s.Bytes, CreatedAt: s.CreatedAt,
		History: s.Policy.History, KeysMax: s.Policy.KeysMax, BytesMax: s.Policy.BytesMax,
		MemoriesMax: s.Policy.MemoriesMax, MemoryBytesMax: s.Policy.MemoryBytesMax, ChangesMax: s.Policy.ChangesMax,
		HistoryAgeMs: s.Policy.HistoryAgeMS,
	}
}

// DecodeScope is the inverse of EncodeScope.
func DecodeScope(p *logpb.ScopeRecord) agent.Scope {
	return agent.Scope{
		Name: p.GetName(), Keys: p.GetKeys(), Bytes: p.GetBytes(), CreatedAt: p.GetCreatedAt(),
		Policy: agent.Policy{
			History: p.GetHistory(), KeysMax: p.GetKeysMax(), BytesMax: p.GetBytesMax(),
			MemoriesMax: p.GetMemoriesMax(), MemoryBytesMax: p.GetMemoryBytesMax(), ChangesMax: p.GetChangesMax(),
			HistoryAgeMS: p.GetHistoryAgeMs(),
		},
	}
}

func encodeRefusal(e *agent.Error) *logpb.Refusal {
	if e == nil {
		return nil
	}
	return &logpb.Refusal{
		Code: string(e.Code), Detail: e.Detail, Op: int32(e.Op), Field: e.Field, Limit: e.Limit,
		Rev: e.Rev, Head: e.Head, Thread: e.Thread, Revision: e.Revision, Seq: e.Seq,
		Incarnation: e.Incarnation, Floor: e.Floor, Epoch: e.Epoch, Holder: e.Holder,
		ExpiresAt: e.ExpiresAt, RetryAfterMs: e.RetryAfterMS, Reason: e.Reason, State: e.State,
	}
}

// decodeRefusal is final: what is kept was decided in the log.
func decodeRefusal(p *logpb.Refusal) *agent.Error {
	return &agent.Error{
		Code: agent.Code(p.Code), Detail: p.Detail, Final: true, Op: int(p.Op), Field: p.Field, Limit: p.Limit,
		Rev: p.Rev, Head: p.Head, Thread: p.Thread, Revision: p.Revision, Seq: p.Seq,
		Incarnation: p.Incarnation, Floor: p.Floor, Epoch: p.Epoch, Holder: p.Holder,
		ExpiresAt: p.ExpiresAt, RetryAfterMS: p.RetryAfterMs, Reason: p.Reason, State: p.State,
	}
}
