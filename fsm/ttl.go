package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/conversation"
	"dormouse/fsm/kv"
	"dormouse/fsm/session"
	"dormouse/fsm/thread"
	"dormouse/fsm/txn"
)

// setTTL sets when a thread, a session or a conversation expires.
func setTTL(c *txn.Tx, op *agent.SetTTL) (agent.OpResult, error) {
	switch {
	case op.Conversation != "":
		return conversation.SetTTL(c, op)
	case op.Session == "":
		return thread.SetTTL(c, op)
	}
	s, err := session.Load(c, op.Session)
	if err != nil {
		return nil, err
	}
	if err := txn.SameIncarnation(op.Session, op.IfIncarnation, s.Row.Incarnation); err != nil {
		return nil, err
	}
	key := kv.IDKey(kv.KindSession, c.Scope, s.Id)
	c.ClearExpiry(s.Row.ExpiresAt, key)
	s.Row.ExpiresAt = c.Deadline(op.TTL.Milliseconds())
	c.SetExpiry(s.Row.ExpiresAt, key)
	c.AddUsage(0, 0)
	return session.Stored(c, s)
}
