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

// Ops are the ops on erasures.
var Ops = []txn.Op{txn.OpOf(EraseAgent)}

// Reads are the reads of erasures.
var Reads = []txn.Read{txn.ReadOf(Get)}

// The op removes all rows under the agent's own key, with a few range deletes. The rows of its
// sessions and conversations are not contiguous: the op removes EraseRowsMax of them, and the
// following entries the rest. Until then reads and ops treat them as deleted: see txn/erased.go.

// Erasure is the erasure of an agent while an op or the sweep works on it.
type Erasure struct {
	*txn.Tx
	agent   string
	row     *logpb.Erasure
	cleared bool // nothing is left except the live instance
	named   int  // about how many rows of checkpoints and threads were removed
}

// EraseAgent runs erase_agent.
func EraseAgent(c *txn.Tx, op *agent.EraseAgent) (agent.OpResult, error) {
	checkpoint, err := checkpoint.Live(c, op.Agent)
	if err != nil {
		return nil, err
	}
	if err := txn.Matches(op.Agent, op.IfIncarnation, op.IfRevision, checkpoint); err != nil {
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
	} else if e.row.Index == 0 || c.Level >= txn.FoundLevel && e.row.Conversations == nil { // never erased, or only in part
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

// Open returns an agent's newest erasure; a new one has index 0.
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

// left reports whether the agent has any rows.
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
		return true, err // unknown until the backfill is complete
	}
	return hasRow(e.Tx, kv.KindConversationAgent, e.agent)
}

// Remembered returns the totals of an agent's memories.
func Remembered(c *txn.Tx, name string) (*logpb.MemoryAgentRow, error) {
	raw, err := c.Rows.Get(kv.IDKey(kv.KindMemoryAgent, c.Scope, name))
	if err != nil {
		return nil, err
	}
	return command.DecodeMemoryAgent(name, raw)
}

// hasRow reports whether an agent has rows in an index of sessions or conversations.
func hasRow(c *txn.Tx, index, name string) (bool, error) {
	prefix := kv.IDKey(index, c.Scope, name)
	keys, _, err := c.Rows.Keys(prefix, kv.After(prefix), 1)
	return len(keys) > 0, err
}

// begin makes the erasure cover all current data of the agent. It begins a new receipt, unless the
// last one is not complete: then that one continues.
func (e *Erasure) begin() {
	if e.row.Index == 0 || e.row.CompletedAt != 0 {
		e.renew()
	}
	if e.Level >= txn.FoundLevel && e.row.Conversations == nil {
		e.row.Conversations = new(uint64)
	}
	e.row.Incarnation, e.row.Next, e.row.NextConversation = e.NewIncarnation(), "", ""
}

// renew begins a new receipt, which counts what is removed from now on.
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
