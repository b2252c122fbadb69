package fsm

import (
	"dormouse/agent"
)

// setTTL says when a thread or a session goes by itself.
func (c *commit) setTTL(op *agent.SetTTL) (agent.OpResult, error) {
	if op.Session == "" {
		return c.setThreadTTL(op)
	}
	s, err := c.theSession(op.Session)
	if err != nil {
		return nil, err
	}
	if err := sameIncarnation(op.Session, op.IfIncarnation, s.row.Incarnation); err != nil {
		return nil, err
	}
	key := idKey(kindSession, c.scope, s.id)
	c.unexpire(s.row.ExpiresAt, key)
	s.row.ExpiresAt = c.deadline(op.TTL.Milliseconds())
	c.expireAt(s.row.ExpiresAt, key)
	c.grow(0, 0)
	return c.stored(s)
}

func (c *commit) setThreadTTL(op *agent.SetTTL) (agent.OpResult, error) {
	t, err := c.presentThread(op.Thread, op.IfIncarnation)
	if err != nil {
		return nil, err
	}
	key := idKey(kindThread, c.scope, t.Id)
	c.unexpire(t.ExpiresAt, key)
	t.ExpiresAt = c.deadline(op.TTL.Milliseconds())
	c.expireAt(t.ExpiresAt, key)
	c.grow(0, 0)
	thread, err := c.storeThread(t)
	if err != nil {
		return nil, err
	}
	return &agent.ThreadResult{Thread: thread}, nil
}

func (c *commit) expireThread(id string, when int64) error {
	raw, err := c.rows.get(idKey(kindThread, c.scope, id))
	if err != nil || raw == nil {
		return err
	}
	t, err := decodeThreadRow(id, raw)
	if err != nil || t.ExpiresAt != when {
		return err
	}
	return c.dropThread(t)
}

func (c *commit) expireSession(id string, when int64) error {
	s, err := c.storedSession(id)
	if err != nil || s == nil || s.row.ExpiresAt != when {
		return err
	}
	return c.clearGone(s)
}
