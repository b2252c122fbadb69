package fsm

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// A session that has expired, or whose agent has been erased since, is as if
// it were not there, and so are its lease and its reviews, though their rows
// may be. What follows tells so: of an op, and of a read.

// sessionGone tells whether a session's row stands for nothing any more.
func sessionGone(rows kv.Reader, scope string, row *logpb.SessionRow, wall int64) (bool, error) {
	if expired(row.ExpiresAt, wall) {
		return true, nil
	}
	if seededbug.Is(seededbug.ErasedIsRead) {
		return false, nil
	}
	raw, err := rows.Get(kv.IDKey(kv.KindErasing, scope, row.Agent))
	below, _ := decodeErasing(raw)
	return row.Incarnation < below, err
}

// encodeErasing marks an agent: its sessions below an incarnation are erased,
// and so are its conversations where the receipt counts them.
func encodeErasing(row *logpb.Erasure) []byte {
	mark := []byte(kv.EncodeNumber(row.Incarnation))
	if row.Conversations != nil {
		mark = append(mark, 1)
	}
	return mark
}

// decodeErasing reads a mark; nil is none.
func decodeErasing(raw []byte) (below uint64, conversations bool) {
	if conversations = len(raw) == 9; conversations {
		raw = raw[:8]
	}
	return kv.DecodeNumber(raw), conversations
}

// isGone tells of a session's id what sessionGone does of its row. One that is
// not there is not gone: what is said of it stands by itself.
func isGone(rows kv.Reader, scope, session string, wall int64) (bool, error) {
	raw, err := rows.Get(kv.IDKey(kv.KindSession, scope, session))
	if err != nil || raw == nil {
		return false, err
	}
	row, err := decodeSessionRow(session, raw)
	if err != nil {
		return false, err
	}
	return sessionGone(rows, scope, row, wall)
}

// leaseGone tells whether a claim is the lease of a session that is gone.
func leaseGone(rows kv.Reader, scope, claim string, wall int64) (bool, error) {
	session, ok := agent.ClaimedSession(claim)
	if !ok {
		return false, nil
	}
	return isGone(rows, scope, session, wall)
}

// clearGone clears away a session that an op or the sweep came upon and that is
// gone. Where its agent was erased, the receipt tells of it, expired or not.
func clearGone(c *commit, s *session) error {
	raw, err := c.rows.Get(kv.IDKey(kv.KindErasing, c.scope, s.row.Agent))
	if err != nil {
		return err
	}
	if below, _ := decodeErasing(raw); s.row.Incarnation >= below {
		return dropSession(c, s)
	}
	e, err := openErasure(c, s.row.Agent)
	if err != nil {
		return err
	}
	if err := e.session(s); err != nil {
		return err
	}
	return e.store()
}

func readErasure(r reader, q *agent.GetErasure) (agent.Found, error) {
	raw, err := r.Get(kv.IDKey(kv.KindErasure, r.scope, q.Agent))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, notFound("erasure of agent", q.Agent)
	}
	row, err := command.DecodeErasureRow(q.Agent, raw)
	if err != nil {
		return nil, err
	}
	return command.DecodeErasure(q.Agent, row)
}

// unsealed refuses to write to an agent that was erased, while its seal holds.
func unsealed(c *commit, name string) error {
	row, err := erasureRow(c, name)
	if err != nil || row.GetSealedUntil() <= c.progress.wall {
		return err
	}
	e := agent.Errorf(agent.CodeDeleted, "agent %q is erased, and sealed until %d", name, row.SealedUntil)
	e.Incarnation = row.Incarnation
	return e
}

// erasureRow is the newest receipt of an agent, nil where there is none.
func erasureRow(c *commit, name string) (*logpb.Erasure, error) {
	raw, err := c.rows.Get(kv.IDKey(kv.KindErasure, c.scope, name))
	if err != nil || raw == nil {
		return nil, err
	}
	return command.DecodeErasureRow(name, raw)
}

// store writes the receipt, and its place in the queue: at once while
// something is left, and when it may be forgotten otherwise.
func (e *erasing) store() error {
	key, mark := kv.IDKey(kv.KindErasure, e.scope, e.agent), kv.IDKey(kv.KindErasing, e.scope, e.agent)
	row := e.row
	e.unexpire(row.DueAt, key)
	if row.CompletedAt == 0 {
		row.DueAt = max(e.progress.wall, 1)
		if e.cleared { // endInstance goes on
			row.DueAt = 0
		}
		e.rows.Set(mark, encodeErasing(row))
	} else {
		row.DueAt = max(e.deadline(agent.ErasureTTL.Milliseconds()), row.SealedUntil)
		e.rows.Remove(mark)
	}
	e.expireAt(row.DueAt, key)
	raw, err := command.Marshal(row)
	if err != nil {
		return fmt.Errorf("encode the erasure of agent %q: %w", e.agent, err)
	}
	e.rows.Set(key, raw)
	return nil
}

// dueErasure goes on with an erasure, or forgets a receipt. What it costs is all
// that an entry sweeps: one step of one erasure is as much as one op of it does.
func dueErasure(c *commit, name string, when int64) (cost int, err error) {
	row, err := erasureRow(c, name)
	if err != nil || row == nil || row.DueAt != when {
		return 0, err
	}
	if row.CompletedAt != 0 {
		c.rows.Remove(kv.IDKey(kv.KindErasure, c.scope, name))
		return 0, nil
	}
	e := &erasing{commit: c, agent: name, row: row}
	if err := e.clear(); err != nil {
		return 0, err
	}
	return sweepMax, e.store()
}
