package command

import (
	"fmt"

	"dormouse/agent"
	logpb "dormouse/proto/log"
)

func encodeForkAgent(o *agent.ForkAgent) *logpb.ForkAgent {
	return &logpb.ForkAgent{
		Agent: o.Agent, NewAgent: o.NewAgent, NewThread: o.NewThread, Revision: o.Revision, WithoutMemory: o.WithoutMemory,
		Session: o.Session, NewSession: o.NewSession, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
	}
}

func decodeForkAgent(p *logpb.ForkAgent) *agent.ForkAgent {
	return &agent.ForkAgent{
		Agent: p.Agent, NewAgent: p.NewAgent, NewThread: p.NewThread, Revision: p.Revision, WithoutMemory: p.WithoutMemory,
		Session: p.Session, NewSession: p.NewSession, IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation,
	}
}

func encodeEraseAgent(o *agent.EraseAgent) *logpb.EraseAgent {
	return &logpb.EraseAgent{
		Agent: o.Agent, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, SealMs: Millis(o.Seal),
	}
}

func decodeEraseAgent(p *logpb.EraseAgent) *agent.EraseAgent {
	return &agent.EraseAgent{
		Agent: p.Agent, IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation, Seal: Duration(p.SealMs),
	}
}

func encodeSetTTL(o *agent.SetTTL) *logpb.SetTTL {
	return &logpb.SetTTL{Thread: o.Thread, Session: o.Session, Conversation: o.Conversation, TtlMs: Millis(o.TTL), IfIncarnation: o.IfIncarnation}
}

func decodeSetTTL(p *logpb.SetTTL) *agent.SetTTL {
	return &agent.SetTTL{Thread: p.Thread, Session: p.Session, Conversation: p.Conversation, TTL: Duration(p.TtlMs), IfIncarnation: p.IfIncarnation}
}

func encodeForkedAgent(r *agent.ForkedAgent) (*logpb.ForkedAgent, error) {
	checkpoint, err := encodeCheckpointResult(&r.Checkpoint)
	if err != nil {
		return nil, err
	}
	p := &logpb.ForkedAgent{Checkpoint: checkpoint, Memories: r.Memories}
	if r.Thread != nil {
		p.Thread = EncodeThread(*r.Thread)
	}
	if r.Session != nil {
		p.Session = encodeSessionResult(&agent.SessionResult{Session: *r.Session})
	}
	return p, nil
}

func decodeForkedAgent(p *logpb.ForkedAgent) (*agent.ForkedAgent, error) {
	r := &agent.ForkedAgent{Checkpoint: decodeCheckpointResult(p.GetCheckpoint()), Memories: p.GetMemories()}
	if p.GetThread() != nil {
		thread, err := DecodeThread(p.Thread)
		if err != nil {
			return nil, err
		}
		r.Thread = &thread
	}
	if p.GetSession() != nil {
		r.Session = &decodeSessionResult(p.Session).Session
	}
	return r, nil
}

// encodeErasure is a receipt as callers see it. What the row has beside it is
// the row's to fill in.
func encodeErasure(e *agent.Erasure) *logpb.Erasure {
	return &logpb.Erasure{
		Agent: e.Agent, Index: e.Index, ErasedAt: e.ErasedAt, CompletedAt: e.CompletedAt, SealedUntil: e.SealedUntil,
		Checkpoints: e.Checkpoints, Revisions: e.Revisions, Threads: e.Threads, Entries: e.Entries, Memories: e.Memories,
		Sessions: e.Sessions, Reviews: e.Reviews, Claims: e.Claims, Conversations: e.Conversations,
		Timers: e.Timers, Instances: e.Instances, Ending: e.Ending != 0, ErasedIndex: e.Ending, Kept: e.Kept, Hash: e.Hash[:],
	}
}

// DecodeErasure is a receipt as callers see it.
func DecodeErasure(name string, p *logpb.Erasure) (*agent.Erasure, error) {
	e := &agent.Erasure{
		Agent: name, Index: p.GetIndex(), ErasedAt: p.GetErasedAt(), CompletedAt: p.GetCompletedAt(), SealedUntil: p.GetSealedUntil(),
		Checkpoints: p.GetCheckpoints(), Revisions: p.GetRevisions(), Threads: p.GetThreads(), Entries: p.GetEntries(),
		Memories: p.GetMemories(), Sessions: p.GetSessions(), Reviews: p.GetReviews(), Claims: p.GetClaims(),
		Conversations: p.Conversations, Timers: p.GetTimers(), Instances: p.GetInstances(), Kept: p.GetKept(),
	}
	if p.GetEnding() {
		e.Ending = p.GetErasedIndex()
	}
	if len(p.GetHash()) != len(e.Hash) {
		return nil, fmt.Errorf("decode the erasure of agent %q: its hash has %d bytes", name, len(p.GetHash()))
	}
	copy(e.Hash[:], p.Hash)
	return e, nil
}

// DecodeErasureRow decodes the receipt of an agent's erasure; the name is for the error.
func DecodeErasureRow(name string, raw []byte) (*logpb.Erasure, error) {
	row := &logpb.Erasure{}
	if err := Unmarshal(raw, row); err != nil {
		return nil, fmt.Errorf("decode the erasure of agent %q: %w", name, err)
	}
	return row, nil
}
