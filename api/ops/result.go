package ops

import (
	"fmt"

	"dormouse/agent"
	oppb "dormouse/proto/op"
)

// ResultToProto converts a result to protobuf.
func ResultToProto(out *oppb.OpResult, res agent.OpResult) {
	switch r := res.(type) {
	case *agent.ValueResult:
		out.Result = &oppb.OpResult_Value{Value: &oppb.ValueResult{
			Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
			Skipped: r.Skipped,
		}}
	case *agent.CheckpointResult:
		out.Result = &oppb.OpResult_Checkpoint{Checkpoint: checkpointResultToProto(r)}
	case *agent.ThreadResult:
		out.Result = &oppb.OpResult_Thread{Thread: &oppb.ThreadResult{
			Thread: ThreadToProto(&r.Thread), Entries: stampsToProto(r.Entries),
		}}
	case *agent.DeleteResult:
		out.Result = &oppb.OpResult_Deleted{Deleted: &oppb.DeleteResult{Existed: r.Existed, Incarnation: r.Incarnation}}
	case *agent.ScopeResult:
		out.Result = &oppb.OpResult_Scope{Scope: ScopeToProto(&r.Scope)}
	case *agent.ClaimResult:
		out.Result = &oppb.OpResult_Claim{Claim: ClaimToProto(&r.Claim)}
	case *agent.MemoryResult:
		out.Result = &oppb.OpResult_Memory{Memory: memoryResultToProto(r)}
	case *agent.SessionResult:
		out.Result = &oppb.OpResult_Session{Session: sessionResultToProto(r)}
	case *agent.ManagerResult:
		out.Result = &oppb.OpResult_Manager{Manager: ManagerToProto(&r.Manager)}
	case *agent.SignalResult:
		out.Result = &oppb.OpResult_Signal{Signal: &oppb.SignalResult{Hash: r.Hash, Reply: r.Reply}}
	case *agent.ReviewResult:
		out.Result = &oppb.OpResult_Review{Review: ReviewToProto(&r.Review)}
	case *agent.ConversationResult:
		out.Result = &oppb.OpResult_Conversation{Conversation: conversationResultToProto(r)}
	case *agent.MessageResult:
		out.Result = &oppb.OpResult_Message{Message: messageResultToProto(r)}
	case *agent.ForkedAgent:
		out.Result = &oppb.OpResult_ForkedAgent{ForkedAgent: forkedAgentToProto(r)}
	case *agent.Erasure:
		out.Result = &oppb.OpResult_Erasure{Erasure: ErasureToProto(r)}
	case *agent.PrefixDeletion:
		out.Result = &oppb.OpResult_Deletion{Deletion: DeletionToProto(r)}
	case *agent.ImportResult:
		out.Result = &oppb.OpResult_Import{Import: &oppb.ImportResult{Chunks: r.Chunks, Done: r.Done}}
	case *agent.TimerResult:
		out.Result = &oppb.OpResult_Timer{Timer: TimerToProto(&r.Timer)}
	case *agent.TokenResult:
		out.Result = &oppb.OpResult_Token{Token: TokenToProto(&r.Token)}
	default:
		panic(fmt.Sprintf("ops: result %T has no protobuf message", res))
	}
}

func stampsToProto(stamps []agent.EntryStamp) []*oppb.EntryStamp {
	if len(stamps) == 0 {
		return nil
	}
	slab := make([]oppb.EntryStamp, len(stamps))
	out := make([]*oppb.EntryStamp, len(stamps))
	for i := range stamps {
		m := &slab[i]
		m.Id, m.Seq, m.At, m.Skipped = stamps[i].ID, stamps[i].Seq, stamps[i].At, stamps[i].Skipped
		out[i] = m
	}
	return out
}

// ResultFromProto converts a result from protobuf. A value that package
// agent cannot represent is an error.
func ResultFromProto(res *oppb.OpResult) (agent.OpResult, error) {
	switch o := res.GetResult().(type) {
	case *oppb.OpResult_Value:
		if r := o.Value; r != nil {
			return valueResultFromProto(r), nil
		}
	case *oppb.OpResult_Checkpoint:
		if r := o.Checkpoint; r != nil {
			return checkpointResultFromProto(r)
		}
	case *oppb.OpResult_Thread:
		if r := o.Thread; r != nil {
			thread, err := ThreadFromProto(r.Thread)
			if err != nil {
				return nil, err
			}
			return &agent.ThreadResult{Thread: thread, Entries: stampsFromProto(r.Entries)}, nil
		}
	case *oppb.OpResult_Deleted:
		if r := o.Deleted; r != nil {
			return &agent.DeleteResult{Existed: r.Existed, Incarnation: r.Incarnation}, nil
		}
	case *oppb.OpResult_Scope:
		if o.Scope != nil {
			return &agent.ScopeResult{Scope: ScopeFromProto(o.Scope)}, nil
		}
	case *oppb.OpResult_Claim:
		claim, err := ClaimFromProto(o.Claim)
		if err != nil {
			return nil, err
		}
		return &agent.ClaimResult{Claim: *claim}, nil
	case *oppb.OpResult_Memory:
		if o.Memory != nil {
			return memoryResultFromProto(o.Memory), nil
		}
	case *oppb.OpResult_Session:
		if o.Session != nil {
			return sessionResultFromProto(o.Session), nil
		}
	case *oppb.OpResult_Manager:
		return managerResultFromProto(o.Manager)
	case *oppb.OpResult_Signal:
		return &agent.SignalResult{Hash: o.Signal.GetHash(), Reply: JSON(o.Signal.GetReply())}, nil
	case *oppb.OpResult_Review:
		if o.Review != nil {
			return &agent.ReviewResult{Review: *ReviewFromProto(o.Review)}, nil
		}
	case *oppb.OpResult_Conversation:
		if o.Conversation != nil {
			return conversationResultFromProto(o.Conversation), nil
		}
	case *oppb.OpResult_Message:
		if o.Message != nil {
			return messageResultFromProto(o.Message), nil
		}
	case *oppb.OpResult_ForkedAgent:
		if o.ForkedAgent != nil {
			return forkedAgentFromProto(o.ForkedAgent)
		}
	case *oppb.OpResult_Timer:
		if o.Timer != nil {
			return &agent.TimerResult{Timer: *TimerFromProto(o.Timer)}, nil
		}
	case *oppb.OpResult_Erasure:
		return ErasureFromProto(o.Erasure)
	}
	return rareResultFromProto(res)
}

// rareResultFromProto converts the result of an import, of an op on a token or of a deletion by
// prefix. It returns an error for unknown kinds.
func rareResultFromProto(p *oppb.OpResult) (agent.OpResult, error) {
	if t := p.GetToken(); t != nil {
		return &agent.TokenResult{Token: *TokenFromProto(t)}, nil
	}
	if d := p.GetDeletion(); d != nil {
		return DeletionFromProto(d), nil
	}
	done := p.GetImport()
	if done == nil {
		return nil, agent.Errorf(agent.CodeInternal, "the result is missing or of an unknown kind")
	}
	return &agent.ImportResult{Chunks: done.Chunks, Done: done.Done}, nil
}

func valueResultFromProto(r *oppb.ValueResult) *agent.ValueResult {
	return &agent.ValueResult{
		Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Skipped: r.Skipped,
	}
}

func stampsFromProto(stamps []*oppb.EntryStamp) []agent.EntryStamp {
	if len(stamps) == 0 {
		return nil
	}
	out := make([]agent.EntryStamp, len(stamps))
	for i, s := range stamps {
		out[i] = agent.EntryStamp{ID: s.GetId(), Seq: s.GetSeq(), At: s.GetAt(), Skipped: s.GetSkipped()}
	}
	return out
}
