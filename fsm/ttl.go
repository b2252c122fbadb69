package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/thread"
	"dormouse/fsm/txn"
)

// setTTL says when a thread, a session or a conversation goes by itself.
func setTTL(c *txn.Tx, op *agent.SetTTL) (agent.OpResult, error) {
	switch {
	case op.Conversation != "":
		return setConversationTTL(c, op)
	case op.Session == "":
		return thread.SetTTL(c, op)
	}
	s, err := theSession(c, op.Session)
	if err != nil {
		return nil, err
	}
	if err := txn.SameIncarnation(op.Session, op.IfIncarnation, s.row.Incarnation); err != nil {
		return nil, err
	}
	key := kv.IDKey(kv.KindSession, c.Scope, s.id)
	c.ClearExpiry(s.row.ExpiresAt, key)
	s.row.ExpiresAt = c.Deadline(op.TTL.Milliseconds())
	c.SetExpiry(s.row.ExpiresAt, key)
	c.AddUsage(0, 0)
	return storedResult(c, s)
}
