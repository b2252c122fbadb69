package manager

import (
	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Ops are the ops on managers.
var Ops = []txn.Op{txn.OpOf(Put), txn.OpOf(Delete), txn.OpOf(AnswerSignal)}

// Reads are the reads of managers.
var Reads = []txn.Read{txn.ReadOf(Get), txn.ReadOf(List)}

// Load returns the row of a manager, or nil.
func Load(c *txn.Tx, name string) (*logpb.ManagerRow, error) {
	if err := agent.ValidKey("name", name); err != nil {
		return nil, err
	}
	raw, err := c.Rows.Get(kv.IDKey(kv.KindManager, c.Scope, name))
	if err != nil || raw == nil {
		return nil, err
	}
	return command.DecodeManagerRow(name, raw)
}

// AnswerSignal returns a signal's reply, which becomes the remembered answer of its request.
func AnswerSignal(_ *txn.Tx, op *agent.AnswerSignal) (agent.OpResult, error) {
	return &agent.SignalResult{Hash: op.Hash, Reply: op.Reply}, nil
}

// Put runs put_manager.
func Put(c *txn.Tx, op *agent.PutManager) (agent.OpResult, error) {
	name := op.Manager.Name
	old, err := Load(c, name)
	if err != nil {
		return nil, err
	}
	if err := txn.RevisionMatches(name, op.IfRevision, old.GetRevision()); err != nil {
		return nil, err
	}
	now := c.Progress.Wall
	row := &logpb.ManagerRow{
		Settings: command.EncodeManager(&op.Manager), Revision: 1, CreatedAt: now, UpdatedAt: now, Size: uint64(op.Manager.Size()),
	}
	if old == nil {
		row.Incarnation = c.NewIncarnation()
		c.AddUsage(1, int64(row.Size))
	} else {
		row.Incarnation, row.Revision, row.CreatedAt = old.Incarnation, old.Revision+1, old.CreatedAt
		c.AddUsage(0, int64(row.Size)-int64(old.Size))
	}
	raw := command.Marshal(row)
	c.Rows.Set(kv.IDKey(kv.KindManager, c.Scope, name), raw)
	c.RecordLateChange(&logpb.Change{Kind: string(agent.ChangedManager), Key: name, Revision: row.Revision})
	return &agent.ManagerResult{Manager: *command.ManagerOf(name, row)}, nil
}

// Delete runs delete_manager.
func Delete(c *txn.Tx, op *agent.DeleteManager) (agent.OpResult, error) {
	old, err := Load(c, op.Name)
	if err != nil {
		return nil, err
	}
	if err := txn.RevisionMatches(op.Name, op.IfRevision, old.GetRevision()); err != nil {
		return nil, err
	}
	if old == nil {
		return &agent.DeleteResult{}, nil
	}
	c.Rows.Remove(kv.IDKey(kv.KindManager, c.Scope, op.Name))
	c.AddUsage(-1, -int64(old.Size))
	c.RecordLateChange(&logpb.Change{Kind: string(agent.ChangedManager), Key: op.Name, Deleted: true})
	return &agent.DeleteResult{Existed: true, Incarnation: old.Incarnation}, nil
}
