package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

// AnswersToProto converts the answers to reads.
func AnswersToProto(a *agent.Answers) *apipb.ReadResponse {
	out := &apipb.ReadResponse{Index: a.Index, AgeMs: a.AgeMS, Node: a.Node}
	slab := make([]apipb.Answer, len(a.Answers))
	out.Answers = make([]*apipb.Answer, len(a.Answers))
	for i := range a.Answers {
		answerToProto(&slab[i], &a.Answers[i])
		out.Answers[i] = &slab[i]
	}
	return out
}

func answerToProto(out *apipb.Answer, a *agent.Answer) {
	if a.Err != nil {
		out.Answer = &apipb.Answer_Error{Error: ops.ErrorToProto(a.Err)}
		return
	}
	switch f := a.Found.(type) {
	case *agent.Value:
		out.Answer = &apipb.Answer_Value{Value: valueToProto(f)}
	case *agent.ValueList:
		out.Answer = &apipb.Answer_Values{Values: valueListToProto(f)}
	case *agent.Checkpoint:
		out.Answer = &apipb.Answer_Checkpoint{Checkpoint: checkpointToProto(f)}
	case *agent.CheckpointList:
		out.Answer = &apipb.Answer_Checkpoints{Checkpoints: checkpointListToProto(f)}
	case *agent.Thread:
		out.Answer = &apipb.Answer_Thread{Thread: ops.ThreadToProto(f)}
	case *agent.ThreadList:
		out.Answer = &apipb.Answer_Threads{Threads: threadListToProto(f)}
	case *agent.Entries:
		out.Answer = &apipb.Answer_Entries{Entries: &apipb.Entries{
			Thread: ops.ThreadToProto(&f.Thread), Items: entriesToProto(f.Items), Next: f.Next,
		}}
	case *agent.Entry:
		m := &apipb.Entry{}
		entryToProto(m, f)
		out.Answer = &apipb.Answer_Entry{Entry: m}
	case *agent.Verified:
		out.Answer = &apipb.Answer_Verified{Verified: &apipb.Verified{Ok: f.OK, Rev: f.Rev, Head: ops.HeadToProto(&f.Head), Why: f.Why}}
	case *agent.Thawed:
		out.Answer = &apipb.Answer_Thawed{Thawed: thawedToProto(f)}
	case *agent.ScopeList:
		out.Answer = &apipb.Answer_Scopes{Scopes: &apipb.ScopeList{Items: each(f.Items, ops.ScopeToProto), Next: f.Next}}
	case *agent.Scope:
		out.Answer = &apipb.Answer_Scope{Scope: ops.ScopeToProto(f)}
	case *agent.Claim:
		out.Answer = &apipb.Answer_Claim{Claim: ops.ClaimToProto(f)}
	case *agent.ClaimList:
		out.Answer = &apipb.Answer_Claims{Claims: &apipb.ClaimList{Items: each(f.Items, ops.ClaimToProto), Next: f.Next}}
	case *agent.Memory:
		out.Answer = &apipb.Answer_Memory{Memory: memoryToProto(f)}
	case *agent.MemoryList:
		out.Answer = &apipb.Answer_Memories{Memories: &apipb.MemoryList{Items: each(f.Items, memoryToProto), Next: f.Next}}
	case *agent.Manager:
		out.Answer = &apipb.Answer_Manager{Manager: ops.ManagerToProto(f)}
	case *agent.ManagerList:
		out.Answer = &apipb.Answer_Managers{Managers: &apipb.ManagerList{Items: each(f.Items, ops.ManagerToProto), Next: f.Next}}
	case *agent.Decided:
		out.Answer = &apipb.Answer_Answered{Answered: answeredToProto(f)}
	case *agent.Token:
		out.Answer = &apipb.Answer_Token{Token: ops.TokenToProto(f)}
	case *agent.TokenList:
		out.Answer = &apipb.Answer_Tokens{Tokens: &apipb.TokenList{Items: each(f.Items, ops.TokenToProto), Next: f.Next}}
	case *agent.PrefixDeletion:
		out.Answer = &apipb.Answer_Deletion{Deletion: ops.DeletionToProto(f)}
	case *agent.DeletionList:
		out.Answer = &apipb.Answer_Deletions{Deletions: &apipb.DeletionList{Items: each(f.Items, ops.DeletionToProto), Next: f.Next}}
	case *agent.Recalled:
		out.Answer = &apipb.Answer_Recalled{Recalled: recalledToProto(f)}
	case *agent.Timer:
		out.Answer = &apipb.Answer_Timer{Timer: ops.TimerToProto(f)}
	case *agent.TimerList:
		out.Answer = &apipb.Answer_Timers{Timers: &apipb.TimerList{Items: each(f.Items, ops.TimerToProto), Next: f.Next}}
	default:
		sessionAnswerToProto(out, f)
	}
}

// AnswersFromProto converts the answers to reads. An error means that an answer is
// invalid.
func AnswersFromProto(r *apipb.ReadResponse) (agent.Answers, error) {
	if r == nil {
		return agent.Answers{}, agent.Errorf(agent.CodeInternal, "the answer has no answers")
	}
	out := agent.Answers{Index: r.Index, AgeMS: r.AgeMs, Node: r.Node, Answers: make([]agent.Answer, len(r.Answers))}
	for i, a := range r.Answers {
		answer, err := answerFromProto(a)
		if err != nil {
			return agent.Answers{}, atOp(err, i)
		}
		out.Answers[i] = answer
	}
	return out, nil
}

func answerFromProto(a *apipb.Answer) (agent.Answer, error) {
	var found agent.Found
	var err error
	switch f := a.GetAnswer().(type) {
	case *apipb.Answer_Error:
		if f.Error == nil {
			return agent.Answer{}, ops.NoAnswer()
		}
		return agent.Answer{Err: ops.ErrorFromProto(f.Error)}, nil
	case *apipb.Answer_Value:
		found = valueFromProto(f.Value)
	case *apipb.Answer_Values:
		found = valueListFromProto(f.Values)
	case *apipb.Answer_Checkpoint:
		found, err = checkpointFromProto(f.Checkpoint)
	case *apipb.Answer_Checkpoints:
		found, err = checkpointListFromProto(f.Checkpoints)
	case *apipb.Answer_Scopes:
		found = scopeListFromProto(f.Scopes)
	case *apipb.Answer_Scope:
		s := ops.ScopeFromProto(f.Scope)
		found = &s
	case *apipb.Answer_Claim:
		found, err = ops.ClaimFromProto(f.Claim)
	case *apipb.Answer_Claims:
		list := &agent.ClaimList{Next: f.Claims.GetNext()}
		list.Items, err = eachValid(f.Claims.GetItems(), ops.ClaimFromProto)
		found = list
	case *apipb.Answer_Memory:
		found = memoryFromProto(f.Memory)
	case *apipb.Answer_Memories:
		found = &agent.MemoryList{Items: eachFrom(f.Memories.GetItems(), memoryFromProto), Next: f.Memories.GetNext()}
	case *apipb.Answer_Token:
		found = ops.TokenFromProto(f.Token)
	case *apipb.Answer_Tokens:
		found = &agent.TokenList{Items: eachFrom(f.Tokens.GetItems(), ops.TokenFromProto), Next: f.Tokens.GetNext()}
	case *apipb.Answer_Deletion:
		found = ops.DeletionFromProto(f.Deletion)
	case *apipb.Answer_Deletions:
		found = &agent.DeletionList{Items: eachFrom(f.Deletions.GetItems(), ops.DeletionFromProto), Next: f.Deletions.GetNext()}
	case *apipb.Answer_Recalled:
		found = recalledFromProto(f.Recalled)
	case *apipb.Answer_Timer:
		found = ops.TimerFromProto(f.Timer)
	case *apipb.Answer_Timers:
		found = &agent.TimerList{Items: eachFrom(f.Timers.GetItems(), ops.TimerFromProto), Next: f.Timers.GetNext()}
	default:
		found, err = threadAnswerFromProto(a)
	}
	if err != nil {
		return agent.Answer{}, err
	}
	return agent.Answer{Found: found}, nil
}

func threadAnswerFromProto(a *apipb.Answer) (agent.Found, error) {
	switch f := a.GetAnswer().(type) {
	case *apipb.Answer_Thread:
		t, err := ops.ThreadFromProto(f.Thread)
		return &t, err
	case *apipb.Answer_Threads:
		return threadListFromProto(f.Threads)
	case *apipb.Answer_Entries:
		t, err := ops.ThreadFromProto(f.Entries.GetThread())
		if err != nil {
			return nil, err
		}
		return &agent.Entries{Thread: t, Items: entriesFromProto(f.Entries.Items), Next: f.Entries.Next}, nil
	case *apipb.Answer_Entry:
		if f.Entry == nil {
			return nil, ops.NoAnswer()
		}
		e := entryFromProto(f.Entry)
		return &e, nil
	case *apipb.Answer_Verified:
		h, err := ops.HeadFromProto(f.Verified.GetHead())
		return &agent.Verified{OK: f.Verified.GetOk(), Rev: f.Verified.GetRev(), Head: h, Why: f.Verified.GetWhy()}, err
	case *apipb.Answer_Thawed:
		return thawedFromProto(f.Thawed)
	default:
		return managerAnswerFromProto(a)
	}
}
