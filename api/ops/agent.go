package ops

import (
	"fmt"

	"dormouse/agent"
	oppb "dormouse/proto/op"
)

// agentOpToProto converts the ops on whole agents, and on the time to live of threads,
// sessions and conversations.
func agentOpToProto(out *oppb.Op, op agent.Op) {
	switch op := op.(type) {
	case *agent.ForkAgent:
		out.Op = &oppb.Op_ForkAgent{ForkAgent: &oppb.ForkAgent{
			Agent: op.Agent, NewAgent: op.NewAgent, NewThread: op.NewThread, Revision: op.Revision, WithoutMemory: op.WithoutMemory,
			Session: op.Session, NewSession: op.NewSession, IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.EraseAgent:
		out.Op = &oppb.Op_EraseAgent{EraseAgent: &oppb.EraseAgent{
			Agent: op.Agent, IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation, SealMs: Millis(op.Seal),
		}}
	case *agent.SetTTL:
		out.Op = &oppb.Op_SetTtl{SetTtl: &oppb.SetTTL{
			Thread: op.Thread, Session: op.Session, Conversation: op.Conversation, TtlMs: Millis(op.TTL), IfIncarnation: op.IfIncarnation,
		}}
	default:
		panic(fmt.Sprintf("ops: op %T has no protobuf message", op))
	}
}

func agentOpFromProto(op *oppb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *oppb.Op_ForkAgent:
		if f := o.ForkAgent; f != nil {
			return &agent.ForkAgent{
				Agent: f.Agent, NewAgent: f.NewAgent, NewThread: f.NewThread, Revision: f.Revision, WithoutMemory: f.WithoutMemory,
				Session: f.Session, NewSession: f.NewSession, IfRevision: f.IfRevision, IfIncarnation: f.IfIncarnation,
			}, nil
		}
	case *oppb.Op_EraseAgent:
		if e := o.EraseAgent; e != nil {
			seal, err := Duration("seal_ms", e.SealMs)
			return &agent.EraseAgent{Agent: e.Agent, IfRevision: e.IfRevision, IfIncarnation: e.IfIncarnation, Seal: seal}, err
		}
	case *oppb.Op_SetTtl:
		if s := o.SetTtl; s != nil {
			ttl, err := Duration("ttl_ms", s.TtlMs)
			return &agent.SetTTL{Thread: s.Thread, Session: s.Session, Conversation: s.Conversation, TTL: ttl, IfIncarnation: s.IfIncarnation}, err
		}
	}
	return nil, noKind()
}

func forkedAgentToProto(r *agent.ForkedAgent) *oppb.ForkedAgent {
	out := &oppb.ForkedAgent{Checkpoint: checkpointResultToProto(&r.Checkpoint), Memories: r.Memories}
	if r.Thread != nil {
		out.Thread = ThreadToProto(r.Thread)
	}
	if r.Session != nil {
		out.Session = SessionRowToProto(r.Session)
	}
	return out
}

func forkedAgentFromProto(r *oppb.ForkedAgent) (*agent.ForkedAgent, error) {
	checkpoint, err := checkpointResultFromProto(r.Checkpoint)
	if err != nil {
		return nil, err
	}
	out := &agent.ForkedAgent{Checkpoint: *checkpoint, Memories: r.Memories}
	if r.Thread != nil {
		thread, err := ThreadFromProto(r.Thread)
		if err != nil {
			return nil, err
		}
		out.Thread = &thread
	}
	if r.Session != nil {
		session := SessionRowFromProto(r.Session)
		out.Session = &session
	}
	return out, nil
}

// ErasureToProto converts an erasure to protobuf.
func ErasureToProto(e *agent.Erasure) *oppb.Erasure {
	return &oppb.Erasure{
		Agent: e.Agent, Index: e.Index, ErasedAt: e.ErasedAt, CompletedAt: e.CompletedAt, SealedUntil: e.SealedUntil,
		Checkpoints: e.Checkpoints, Revisions: e.Revisions, Threads: e.Threads, Entries: e.Entries, Memories: e.Memories,
		Sessions: e.Sessions, Reviews: e.Reviews, Claims: e.Claims, Conversations: e.Conversations,
		Timers: e.Timers, Instances: e.Instances, Ending: e.Ending, Kept: e.Kept, Hash: HeadToProto(&e.Hash),
	}
}

// ErasureFromProto converts an erasure from protobuf. A value that package
// agent cannot represent is an error.
func ErasureFromProto(e *oppb.Erasure) (*agent.Erasure, error) {
	if e == nil {
		return nil, NoAnswer()
	}
	hash, err := HeadFromProto(e.Hash)
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
