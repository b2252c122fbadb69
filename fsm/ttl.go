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

func setThreadTTL(c *commit, op *agent.SetTTL) (agent.OpResult, error) {
	t, err := presentThread(c, op.Thread, op.IfIncarnation)
	if err != nil {
		return nil, err
	}
	key := kv.IDKey(kv.KindThread, c.scope, t.Id)
	c.unexpire(t.ExpiresAt, key)
	t.ExpiresAt = c.deadline(op.TTL.Milliseconds())
	c.expireAt(t.ExpiresAt, key)
	c.grow(0, 0)
	thread, err := storeThread(c, t)
	if err != nil {
		return nil, err
	}
	return &agent.ThreadResult{Thread: thread}, nil
}

func setConversationTTL(c *commit, op *agent.SetTTL) (agent.OpResult, error) {
	w, err := openToWrite(c, &agent.ConversationRef{ID: op.Conversation, IfIncarnation: op.IfIncarnation})
	if err != nil {
		return nil, err
	}
	if !w.exists() {
		return nil, notFound("conversation", op.Conversation)
	}
	key := w.key(kv.KindConversation)
	c.unexpire(w.row.ExpiresAt, key)
	w.row.ExpiresAt, w.row.UpdatedAt = c.deadline(op.TTL.Milliseconds()), c.progress.wall
	c.expireAt(w.row.ExpiresAt, key)
	c.grow(0, 0)
	return w.done()
}

func expireConversation(c *commit, id string, when int64) error {
	w, err := storedConversation(c, id)
	if err != nil || w.row.ExpiresAt != when {
		return err
	}
	return w.clear()
}

func expireThread(c *commit, id string, when int64) error {
	raw, err := c.rows.Get(kv.IDKey(kv.KindThread, c.scope, id))
	if err != nil || raw == nil {
		return err
	}
	t, err := decodeThreadRow(id, raw)
	if err != nil || t.ExpiresAt != when {
		return err
	}
	return dropThread(c, t)
}

func expireSession(c *commit, id string, when int64) error {
	s, err := storedSession(c, id)
	if err != nil || s == nil || s.row.ExpiresAt != when {
		return err
	}
	return clearGone(c, s)
}
