package erasure

import (
	"dormouse/agent"
	"dormouse/fsm/checkpoint"
	"dormouse/fsm/command"
	"dormouse/fsm/conversation"
	"dormouse/fsm/kv"
	"dormouse/fsm/thread"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// What an agent has under its own key goes with the op, since it takes a few
// range deletes however much it is. Its sessions and conversations are anywhere:
// the op clears away so many of them as EraseRowsMax allows, and the entries after
// it the rest. Until then they are gone though their rows are there: see erasing.go.

// Erasure is the erasure of an agent while an op or the sweep works on it.
type Erasure struct {
	*txn.Tx
	agent   string
	row     *logpb.Erasure
	cleared bool // nothing is left but to end the live instance
}

// EraseAgent runs erase_agent.
func EraseAgent(c *txn.Tx, op *agent.EraseAgent) (agent.OpResult, error) {
	checkpoint, err := checkpoint.Live(c, op.Agent)
	if err != nil {
		return nil, err
	}
	if err := txn.SameIncarnation(op.Agent, op.IfIncarnation, checkpoint.GetIncarnation()); err != nil {
		return nil, err
	}
	if err := txn.RevisionMatches(op.Agent, op.IfRevision, checkpoint.GetRevision()); err != nil {
		return nil, err
	}
	e, err := Open(c, op.Agent)
	if err != nil {
		return nil, err
	}
	c.AddUsage(0, 0)
	e.row.SealedUntil = max(e.row.SealedUntil, c.Deadline(op.Seal.Milliseconds()))
	left, err := e.left(checkpoint)
	if err != nil {
		return nil, err
	}
	if left {
		e.begin()
		if err := e.own(checkpoint); err != nil {
			return nil, err
		}
		if err := e.clear(); err != nil {
			return nil, err
		}
	} else if e.row.Index == 0 || c.Level >= txn.FoundLevel && e.row.Conversations == nil { // never erased, or not wholly
		e.begin()
		e.row.CompletedAt = max(c.Progress.Wall, 1)
	}
	e.askToEnd(checkpoint != nil)
	if op.Seal > 0 {
		if err := c.WriteTombstone(kv.KindCheckpointTombstone, op.Agent, checkpoint.GetIncarnation(), op.Seal); err != nil {
			return nil, err
		}
	}
	if err := e.store(); err != nil {
		return nil, err
	}
	return command.DecodeErasure(op.Agent, e.row)
}

// Open goes on with an agent's newest erasure; a new one has no index.
func Open(c *txn.Tx, name string) (*Erasure, error) {
	row, err := txn.LoadErasure(c, name)
	if err != nil {
		return nil, err
	}
	if row == nil {
		row = &logpb.Erasure{Hash: thread.ZeroHead}
	}
	return &Erasure{Tx: c, agent: name, row: row}, nil
}

// left reports whether there is anything of the agent.
func (e *Erasure) left(checkpoint *logpb.CheckpointRow) (bool, error) {
	if checkpoint != nil {
		return true, nil
	}
	whole, err := Remembered(e.Tx, e.agent)
	if err != nil || whole.Entries > 0 {
		return true, err
	}
	if has, err := e.hasTimers(); err != nil || has {
		return has, err
	}
	if has, err := hasRow(e.Tx, kv.KindSessionAgent, e.agent); err != nil || has || e.Level < txn.FoundLevel {
		return has, err
	}
	found, err := conversation.Backfill.Complete(e.Rows)
	if err != nil || !found {
		return true, err // not known yet
	}
	return hasRow(e.Tx, kv.KindConversationAgent, e.agent)
}

// Remembered is what an agent remembers, as a whole.
func Remembered(c *txn.Tx, name string) (*logpb.MemoryAgentRow, error) {
	raw, err := c.Rows.Get(kv.IDKey(kv.KindMemoryAgent, c.Scope, name))
	if err != nil {
		return nil, err
	}
	return command.DecodeMemoryAgent(name, raw)
}

// hasRow reports whether an agent is in an index: of sessions, or of conversations.
func hasRow(c *txn.Tx, index, name string) (bool, error) {
	prefix := kv.IDKey(index, c.Scope, name)
	keys, _, err := c.Rows.Keys(prefix, kv.After(prefix), 1)
	return len(keys) > 0, err
}

// begin says that all there is of the agent by now goes: with a new receipt,
// but where one is not complete, which then goes on.
func (e *Erasure) begin() {
	if e.row.Index == 0 || e.row.CompletedAt != 0 {
		e.renew()
	}
	if e.Level >= txn.FoundLevel && e.row.Conversations == nil {
		e.row.Conversations = new(uint64)
	}
	e.row.Incarnation, e.row.Next, e.row.NextConversation = e.NewIncarnation(), "", ""
}

// renew begins a new receipt, of what goes from now on.
func (e *Erasure) renew() {
	old, now := e.row, e.Progress
	hash := agent.WitnessErasure(e.Scope, e.agent, now.Index, now.Wall)
	e.row = &logpb.Erasure{
		Index: now.Index, ErasedAt: now.Wall, SealedUntil: old.SealedUntil, Hash: hash[:], DueAt: old.DueAt,
		Incarnation: old.Incarnation, ErasedIndex: old.ErasedIndex,
	}
	if old.Conversations != nil {
		e.row.Conversations = new(uint64)
	}
}
