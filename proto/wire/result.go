package wire

import (
	"fmt"

	"dormouse/agent"
	apipb "dormouse/proto/api"
)

// ResultToProto converts what a commit came to.
func ResultToProto(r *agent.Result) *apipb.CommitResponse {
	out := &apipb.CommitResponse{Index: r.Index, TimeMs: r.Time}
	if len(r.Results) == 0 {
		return out
	}
	slab := make([]apipb.OpResult, len(r.Results))
	out.Results = make([]*apipb.OpResult, len(r.Results))
	for i, res := range r.Results {
		opResultToProto(&slab[i], res)
		out.Results[i] = &slab[i]
	}
	return out
}

func opResultToProto(out *apipb.OpResult, res agent.OpResult) {
	switch r := res.(type) {
	case *agent.ValueResult:
		out.Result = &apipb.OpResult_Value{Value: &apipb.ValueResult{
			Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		}}
	case *agent.CheckpointResult:
		out.Result = &apipb.OpResult_Checkpoint{Checkpoint: checkpointResultToProto(r)}
	case *agent.ThreadResult:
		out.Result = &apipb.OpResult_Thread{Thread: &apipb.ThreadResult{
			Thread: threadToProto(&r.Thread), Entries: stampsToProto(r.Entries),
		}}
	case *agent.DeleteResult:
		out.Result = &apipb.OpResult_Deleted{Deleted: &apipb.DeleteResult{Existed: r.Existed, Incarnation: r.Incarnation}}
	case *agent.ScopeResult:
		out.Result = &apipb.OpResult_Scope{Scope: scopeToProto(&r.Scope)}
	case *agent.ClaimResult:
		out.Result = &apipb.OpResult_Claim{Claim: claimToProto(&r.Claim)}
	case *agent.MemoryResult:
		out.Result = &apipb.OpResult_Memory{Memory: memoryResultToProto(r)}
	case *agent.SessionResult:
		out.Result = &apipb.OpResult_Session{Session: sessionResultToProto(r)}
	case *agent.ManagerResult:
		out.Result = &apipb.OpResult_Manager{Manager: managerToProto(&r.Manager)}
	case *agent.SignalResult:
		out.Result = &apipb.OpResult_Signal{Signal: &apipb.SignalResult{Hash: r.Hash, Reply: r.Reply}}
	case *agent.ReviewResult:
		out.Result = &apipb.OpResult_Review{Review: reviewToProto(&r.Review)}
	case *agent.ConversationResult:
		out.Result = &apipb.OpResult_Conversation{Conversation: conversationResultToProto(r)}
	case *agent.MessageResult:
		out.Result = &apipb.OpResult_Message{Message: messageResultToProto(r)}
	case *agent.ForkedAgent:
		out.Result = &apipb.OpResult_ForkedAgent{ForkedAgent: forkedAgentToProto(r)}
	case *agent.Erasure:
		out.Result = &apipb.OpResult_Erasure{Erasure: erasureToProto(r)}
	case *agent.ImportResult:
		out.Result = &apipb.OpResult_Import{Import: &apipb.ImportResult{Chunks: r.Chunks, Done: r.Done}}
	case *agent.TimerResult:
		out.Result = &apipb.OpResult_Timer{Timer: timerToProto(&r.Timer)}
	default:
		panic(fmt.Sprintf("wire: result %T has no wire format", res))
	}
}

func stampsToProto(stamps []agent.EntryStamp) []*apipb.EntryStamp {
	if len(stamps) == 0 {
		return nil
	}
	slab := make([]apipb.EntryStamp, len(stamps))
	out := make([]*apipb.EntryStamp, len(stamps))
	for i := range stamps {
		m := &slab[i]
		m.Id, m.Seq, m.At = stamps[i].ID, stamps[i].Seq, stamps[i].At
		out[i] = m
	}
	return out
}

// ResultFromProto converts what a commit came to. An error means that the
// answer cannot be understood; the commit applied all the same.
func ResultFromProto(r *apipb.CommitResponse) (agent.Result, error) {
	if r == nil {
		return agent.Result{}, agent.Errorf(agent.CodeInternal, "the answer has no result")
	}
	out := agent.Result{Index: r.Index, Time: r.TimeMs}
	if len(r.Results) == 0 {
		return out, nil
	}
	out.Results = make([]agent.OpResult, len(r.Results))
	for i, res := range r.Results {
		converted, err := opResultFromProto(res)
		if err != nil {
			return agent.Result{}, atOp(err, i)
		}
		out.Results[i] = converted
	}
	return out, nil
}

func opResultFromProto(res *apipb.OpResult) (agent.OpResult, error) {
	switch o := res.GetResult().(type) {
	case *apipb.OpResult_Value:
		if r := o.Value; r != nil {
			return &agent.ValueResult{
				Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
			}, nil
		}
	case *apipb.OpResult_Checkpoint:
		if r := o.Checkpoint; r != nil {
			return checkpointResultFromProto(r)
		}
	case *apipb.OpResult_Thread:
		if r := o.Thread; r != nil {
			thread, err := threadFromProto(r.Thread)
			if err != nil {
				return nil, err
			}
			return &agent.ThreadResult{Thread: thread, Entries: stampsFromProto(r.Entries)}, nil
		}
	case *apipb.OpResult_Deleted:
		if r := o.Deleted; r != nil {
			return &agent.DeleteResult{Existed: r.Existed, Incarnation: r.Incarnation}, nil
		}
	case *apipb.OpResult_Scope:
		if o.Scope != nil {
			return &agent.ScopeResult{Scope: scopeFromProto(o.Scope)}, nil
		}
	case *apipb.OpResult_Claim:
		claim, err := claimFromProto(o.Claim)
		if err != nil {
			return nil, err
		}
		return &agent.ClaimResult{Claim: *claim}, nil
	case *apipb.OpResult_Memory:
		if o.Memory != nil {
			return memoryResultFromProto(o.Memory), nil
		}
	case *apipb.OpResult_Session:
		if o.Session != nil {
			return sessionResultFromProto(o.Session), nil
		}
	case *apipb.OpResult_Manager:
		return managerResultFromProto(o.Manager)
	case *apipb.OpResult_Signal:
		return &agent.SignalResult{Hash: o.Signal.GetHash(), Reply: json(o.Signal.GetReply())}, nil
	case *apipb.OpResult_Review:
		if o.Review != nil {
			return &agent.ReviewResult{Review: *reviewFromProto(o.Review)}, nil
		}
	case *apipb.OpResult_Conversation:
		if o.Conversation != nil {
			return conversationResultFromProto(o.Conversation), nil
		}
	case *apipb.OpResult_Message:
		if o.Message != nil {
			return messageResultFromProto(o.Message), nil
		}
	case *apipb.OpResult_ForkedAgent:
		if o.ForkedAgent != nil {
			return forkedAgentFromProto(o.ForkedAgent)
		}
	case *apipb.OpResult_Timer:
		if o.Timer != nil {
			return &agent.TimerResult{Timer: *timerFromProto(o.Timer)}, nil
		}
	case *apipb.OpResult_Erasure:
		return erasureFromProto(o.Erasure)
	}
	return importResultFromProto(res.GetImport())
}

// importResultFromProto converts the last kind of result; nil is none that is
// known.
func importResultFromProto(p *apipb.ImportResult) (agent.OpResult, error) {
	if p == nil {
		return nil, agent.Errorf(agent.CodeInternal, "the result is missing or of an unknown kind")
	}
	return &agent.ImportResult{Chunks: p.Chunks, Done: p.Done}, nil
}

func stampsFromProto(stamps []*apipb.EntryStamp) []agent.EntryStamp {
	if len(stamps) == 0 {
		return nil
	}
	out := make([]agent.EntryStamp, len(stamps))
	for i, s := range stamps {
		out[i] = agent.EntryStamp{ID: s.GetId(), Seq: s.GetSeq(), At: s.GetAt()}
	}
	return out
}
