package wire

import (
	"fmt"

	"dormouse/agent"
	apipb "dormouse/proto/api"
)

// agentOpToProto converts the ops on whole agents, and on how long threads,
// sessions and conversations live.
func agentOpToProto(out *apipb.Op, op agent.Op) {
	switch op := op.(type) {
	case *agent.ForkAgent:
		out.Op = &apipb.Op_ForkAgent{ForkAgent: &apipb.ForkAgent{
			Agent: op.Agent, NewAgent: op.NewAgent, NewThread: op.NewThread, Revision: op.Revision, WithoutMemory: op.WithoutMemory,
			Session: op.Session, NewSession: op.NewSession, IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.EraseAgent:
		out.Op = &apipb.Op_EraseAgent{EraseAgent: &apipb.EraseAgent{
			Agent: op.Agent, IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation, SealMs: millis(op.Seal),
		}}
	case *agent.SetTTL:
		out.Op = &apipb.Op_SetTtl{SetTtl: &apipb.SetTTL{
			Thread: op.Thread, Session: op.Session, Conversation: op.Conversation, TtlMs: millis(op.TTL), IfIncarnation: op.IfIncarnation,
		}}
	default:
		panic(fmt.Sprintf("wire: op %T has no wire format", op))
	}
}

func agentOpFromProto(op *apipb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *apipb.Op_ForkAgent:
		if f := o.ForkAgent; f != nil {
			return &agent.ForkAgent{
				Agent: f.Agent, NewAgent: f.NewAgent, NewThread: f.NewThread, Revision: f.Revision, WithoutMemory: f.WithoutMemory,
				Session: f.Session, NewSession: f.NewSession, IfRevision: f.IfRevision, IfIncarnation: f.IfIncarnation,
			}, nil
		}
	case *apipb.Op_EraseAgent:
		if e := o.EraseAgent; e != nil {
			seal, err := duration("seal_ms", e.SealMs)
			return &agent.EraseAgent{Agent: e.Agent, IfRevision: e.IfRevision, IfIncarnation: e.IfIncarnation, Seal: seal}, err
		}
	case *apipb.Op_SetTtl:
		if s := o.SetTtl; s != nil {
			ttl, err := duration("ttl_ms", s.TtlMs)
			return &agent.SetTTL{Thread: s.Thread, Session: s.Session, Conversation: s.Conversation, TTL: ttl, IfIncarnation: s.IfIncarnation}, err
		}
	}
	return nil, noKind()
}

func forkedAgentToProto(r *agent.ForkedAgent) *apipb.ForkedAgent {
	out := &apipb.ForkedAgent{Checkpoint: checkpointResultToProto(&r.Checkpoint), Memories: r.Memories}
	if r.Thread != nil {
		out.Thread = threadToProto(r.Thread)
	}
	if r.Session != nil {
		out.Session = sessionRowToProto(r.Session)
	}
	return out
}

func forkedAgentFromProto(r *apipb.ForkedAgent) (*agent.ForkedAgent, error) {
	checkpoint, err := checkpointResultFromProto(r.Checkpoint)
	if err != nil {
		return nil, err
	}
	out := &agent.ForkedAgent{Checkpoint: *checkpoint, Memories: r.Memories}
	if r.Thread != nil {
		thread, err := threadFromProto(r.Thread)
		if err != nil {
			return nil, err
		}
		out.Thread = &thread
	}
	if r.Session != nil {
		session := sessionRowFromProto(r.Session)
		out.Session = &session
	}
	return out, nil
}

func erasureToProto(e *agent.Erasure) *apipb.Erasure {
	return &apipb.Erasure{
		Agent: e.Agent, Index: e.Index, ErasedAt: e.ErasedAt, CompletedAt: e.CompletedAt, SealedUntil: e.SealedUntil,
		Checkpoints: e.Checkpoints, Revisions: e.Revisions, Threads: e.Threads, Entries: e.Entries, Memories: e.Memories,
		Sessions: e.Sessions, Reviews: e.Reviews, Claims: e.Claims, Conversations: e.Conversations,
		Timers: e.Timers, Instances: e.Instances, Ending: e.Ending, Kept: e.Kept, Hash: headToProto(&e.Hash),
	}
}

func erasureFromProto(e *apipb.Erasure) (*agent.Erasure, error) {
	if e == nil {
		return nil, noAnswer()
	}
	hash, err := headFromProto(e.Hash)
	if err != nil {
		return nil, err
	}
	return &agent.Erasure{
		Agent: e.Agent, Index: e.Index, ErasedAt: e.ErasedAt, CompletedAt: e.CompletedAt, SealedUntil: e.SealedUntil,
		Checkpoints: e.Checkpoints, Revisions: e.Revisions, Threads: e.Threads, Entries: e.Entries, Memories: e.Memories,
		Sessions: e.Sessions, Reviews: e.Reviews, Claims: e.Claims, Conversations: e.Conversations,
		Timers: e.Timers, Instances: e.Instances, Ending: e.Ending, Kept: e.Kept, Hash: hash,
	}, nil
}
