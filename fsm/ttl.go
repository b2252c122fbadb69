package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
)

// setTTL says when a thread, a session or a conversation goes by itself.
func setTTL(c *commit, op *agent.SetTTL) (agent.OpResult, error) {
	switch {
	case op.Conversation != "":
		return setConversationTTL(c, op)
	case op.Session == "":
		return setThreadTTL(c, op)
	}
	s, err := theSession(c, op.Session)
	if err != nil {
		return nil, err
	}
	if err := sameIncarnation(op.Session, op.IfIncarnation, s.row.Incarnation); err != nil {
		return nil, err
	}
	key := kv.IDKey(kv.KindSession, c.scope, s.id)
	c.unexpire(s.row.ExpiresAt, key)
	s.row.ExpiresAt = c.deadline(op.TTL.Milliseconds())
	c.expireAt(s.row.ExpiresAt, key)
	c.grow(0, 0)
	return storedResult(c, s)
}
