package document

import (
	"dormouse/agent"
)

var erasureOps = map[string]func() wireOp{
	"erase_agent": func() wireOp { return new(eraseAgentOp) },
}

// Erasure is the receipt of an erased agent.
type Erasure struct {
	Agent       string `json:"agent"`
	Index       uint64 `json:"index" doc:"The log index of the erasure: from it on none of the agent's data can be read"`
	ErasedAt    int64  `json:"erased_at"`
	Complete    bool   `json:"complete" doc:"All rows are removed, and the live instance has ended; until then the counts grow"`
	CompletedAt int64  `json:"completed_at,omitzero"`
	SealedUntil int64  `json:"sealed_until,omitzero" doc:"Writes to the agent are refused until then"`
	Checkpoints uint64 `json:"checkpoints"`
	Revisions   uint64 `json:"revisions" doc:"Of the checkpoints"`
	Threads     uint64 `json:"threads"`
	Entries     uint64 `json:"entries" doc:"Of the threads; those that a fork shares stay with the fork"`
	Memories    uint64 `json:"memories"`
	Sessions    uint64 `json:"sessions"`
	Reviews     uint64 `json:"reviews"`
	Claims      uint64 `json:"claims" doc:"Leases of the sessions"`
	Timers      uint64 `json:"timers" doc:"Of an instance, including those of its recurring jobs"`
	Instances   uint64 `json:"instances" doc:"1 if the agent is an instance, awake or dormant"`

	Conversations *uint64 `json:"conversations,omitempty" doc:"Absent if they were not searched and stay, because a node did not support it; erase the agent again then"`

	Kept uint64 `json:"kept" doc:"Threads and checkpoints that stay, because another agent uses them too"`
	Hash string `json:"hash" doc:"SHA-256 over all that was removed, in order"`
}

// ErasureOf returns the document of e.
func ErasureOf(e *agent.Erasure) Erasure {
	return Erasure{
		Agent: e.Agent, Index: e.Index, ErasedAt: e.ErasedAt, Complete: e.Complete(), CompletedAt: e.CompletedAt, SealedUntil: e.SealedUntil,
		Checkpoints: e.Checkpoints, Revisions: e.Revisions, Threads: e.Threads, Entries: e.Entries, Memories: e.Memories,
		Sessions: e.Sessions, Reviews: e.Reviews, Claims: e.Claims, Timers: e.Timers, Instances: e.Instances,
		Conversations: e.Conversations, Kept: e.Kept, Hash: e.Hash.String(),
	}
}

type eraseAgentOp struct {
	opName
	Agent         string  `json:"agent"`
	IfRevision    *uint64 `json:"if_revision,omitempty"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
	SealMS        uint64  `json:"seal_ms,omitempty"`
}

type getErasureRead struct {
	readName
	Agent string `json:"agent"`
}

func (o *eraseAgentOp) op() (agent.Op, error) {
	seal, err := Duration("seal_ms", o.SealMS)
	return &agent.EraseAgent{Agent: o.Agent, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, Seal: seal}, err
}

func (r getErasureRead) read() agent.Read { return &agent.GetErasure{Agent: r.Agent} }
