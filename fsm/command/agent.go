package command

import (
	"fmt"

	"dormouse/agent"
	logpb "dormouse/proto/log"
)

// DecodeErasure returns a receipt as callers see it.
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

// DecodeErasureRow decodes the receipt of an agent's erasure; name is used in the error.
func DecodeErasureRow(name string, raw []byte) (*logpb.Erasure, error) {
	return Decode[logpb.Erasure](raw, "the erasure of agent", name)
}
