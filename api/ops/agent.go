package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var agentCodecs = []opCodec{
	codec(encodeForkAgent, (*oppb.Op).GetForkAgent, decodeForkAgent),
	codec(encodeEraseAgent, (*oppb.Op).GetEraseAgent, decodeEraseAgent),
	codec(encodeSetTTL, (*oppb.Op).GetSetTtl, decodeSetTTL),
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

func encodeForkAgent(out *oppb.Op, o *agent.ForkAgent) {
	out.Op = &oppb.Op_ForkAgent{ForkAgent: &oppb.ForkAgent{
		Agent: o.Agent, NewAgent: o.NewAgent, NewThread: o.NewThread, Revision: o.Revision, WithoutMemory: o.WithoutMemory,
		Session: o.Session, NewSession: o.NewSession, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
	}}
}

func decodeForkAgent(p *oppb.ForkAgent) (agent.Op, error) {
	return &agent.ForkAgent{
		Agent: p.Agent, NewAgent: p.NewAgent, NewThread: p.NewThread, Revision: p.Revision, WithoutMemory: p.WithoutMemory,
		Session: p.Session, NewSession: p.NewSession, IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation,
	}, nil
}

func encodeEraseAgent(out *oppb.Op, o *agent.EraseAgent) {
	out.Op = &oppb.Op_EraseAgent{EraseAgent: &oppb.EraseAgent{
		Agent: o.Agent, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, SealMs: Millis(o.Seal),
	}}
}

func decodeEraseAgent(p *oppb.EraseAgent) (agent.Op, error) {
	seal, err := Duration("seal_ms", p.SealMs)
	return &agent.EraseAgent{Agent: p.Agent, IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation, Seal: seal}, err
}

func encodeSetTTL(out *oppb.Op, o *agent.SetTTL) {
	out.Op = &oppb.Op_SetTtl{SetTtl: &oppb.SetTTL{
		Thread: o.Thread, Session: o.Session, Conversation: o.Conversation, TtlMs: Millis(o.TTL), IfIncarnation: o.IfIncarnation,
	}}
}

func decodeSetTTL(p *oppb.SetTTL) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", p.TtlMs)
	return &agent.SetTTL{Thread: p.Thread, Session: p.Session, Conversation: p.Conversation, TTL: ttl, IfIncarnation: p.IfIncarnation}, err
}
