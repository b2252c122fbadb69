package erasure

import (
	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/conversation"
	"dormouse/fsm/kv"
	"dormouse/fsm/session"
	"dormouse/fsm/txn"
)

// A session that has expired, or whose agent has been erased since, is treated as deleted, and so
// are its lease and its reviews, even if their rows still exist.

// Get answers get_erasure.
func Get(r txn.Reader, q *agent.GetErasure) (agent.Found, error) {
	raw, err := r.Get(kv.IDKey(kv.KindErasure, r.Scope, q.Agent))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, txn.NotFound("erasure of agent", q.Agent)
	}
	row, err := command.DecodeErasureRow(q.Agent, raw)
	if err != nil {
		return nil, err
	}
	return command.DecodeErasure(q.Agent, row)
}

// store writes the receipt and its queue entry: due at once while something is left, and otherwise
// when the receipt may be removed.
func (e *Erasure) store() error {
	key, mark := kv.IDKey(kv.KindErasure, e.Scope, e.agent), kv.IDKey(kv.KindErasing, e.Scope, e.agent)
	row := e.row
	e.ClearExpiry(row.DueAt, key)
	if row.CompletedAt == 0 {
		row.DueAt = max(e.Progress.Wall, 1)
		if e.cleared { // EndInstance continues
			row.DueAt = 0
		}
		e.Rows.Set(mark, txn.EncodeErasureMark(row))
	} else {
		row.DueAt = max(e.Deadline(agent.ErasureTTL.Milliseconds()), row.SealedUntil)
		e.Rows.Remove(mark)
	}
	e.SetExpiry(row.DueAt, key)
	raw := command.Marshal(row)
	e.Rows.Set(key, raw)
	return nil
}

// Expire continues an erasure, or removes a receipt. A step of an erasure costs all that an entry
// may sweep: it does as much as one erase_agent op.
func Expire(c *txn.Tx, name string, when int64) (cost int, err error) {
	row, err := txn.LoadErasure(c, name)
	if err != nil || row == nil || row.DueAt != when {
		return 0, err
	}
	if row.CompletedAt != 0 {
		c.Rows.Remove(kv.IDKey(kv.KindErasure, c.Scope, name))
		return 0, nil
	}
	e := &Erasure{Tx: c, agent: name, row: row}
	if err := e.clear(); err != nil {
		return 0, err
	}
	return txn.SweepMax, e.store()
}

// Eraser implements txn.Eraser.
type Eraser struct{}

// EraseSession implements txn.Eraser.
func (Eraser) EraseSession(c *txn.Tx, id string) error {
	s, err := session.LoadStored(c, id)
	if err != nil || s == nil {
		return err
	}
	e, err := Open(c, s.Row.Agent)
	if err != nil {
		return err
	}
	if err := e.session(s); err != nil {
		return err
	}
	return e.store()
}

// EraseConversation implements txn.Eraser.
func (Eraser) EraseConversation(c *txn.Tx, id string) error {
	w, err := conversation.LoadStored(c, id)
	if err != nil || !w.Exists() {
		return err
	}
	e, err := Open(c, w.Row.Agent)
	if err != nil {
		return err
	}
	if err := e.conversation(w); err != nil {
		return err
	}
	return e.store()
}
