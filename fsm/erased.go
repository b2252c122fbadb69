package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

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
	row, err := command.DecodeSessionRow(session, raw)
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

// eraser removes what an agent that was erased still has, and counts it in the
// erasure's receipt: ops come upon such rows before the erasure has.
type eraser interface {
	eraseSession(c *commit, id string) error
	eraseConversation(c *commit, id string) error
}
