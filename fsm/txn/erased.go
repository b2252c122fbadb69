package txn

import (
	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// SessionGone reports whether a session has expired, or its agent has been erased since.
func SessionGone(rows kv.Reader, scope string, row *logpb.SessionRow, wall int64) (bool, error) {
	if Expired(row.ExpiresAt, wall) {
		return true, nil
	}
	if seededbug.Is(seededbug.ErasedIsRead) {
		return false, nil
	}
	raw, err := rows.Get(kv.IDKey(kv.KindErasing, scope, row.Agent))
	below, _ := DecodeErasureMark(raw)
	return SessionNamedSince(row) < below, err
}

// SessionNamedSince returns the incarnation number at which a session was assigned to its agent.
func SessionNamedSince(row *logpb.SessionRow) uint64 { return max(row.Incarnation, row.Named) }

// EncodeErasureMark encodes the mark of an erased agent: its sessions below an incarnation are
// erased, and so are its conversations if the receipt counts them.
func EncodeErasureMark(row *logpb.Erasure) []byte {
	mark := []byte(kv.EncodeNumber(row.Incarnation))
	if row.Conversations != nil {
		mark = append(mark, 1)
	}
	return mark
}

// DecodeErasureMark decodes a mark; nil is none.
func DecodeErasureMark(raw []byte) (below uint64, conversations bool) {
	if conversations = len(raw) == 9; conversations {
		raw = raw[:8]
	}
	return kv.DecodeNumber(raw), conversations
}

// SessionIDGone is SessionGone for a session's id. It returns false for a missing session.
func SessionIDGone(rows kv.Reader, scope, session string, wall int64) (bool, error) {
	raw, err := rows.Get(kv.IDKey(kv.KindSession, scope, session))
	if err != nil || raw == nil {
		return false, err
	}
	row, err := command.DecodeSessionRow(session, raw)
	if err != nil {
		return false, err
	}
	return SessionGone(rows, scope, row, wall)
}

// LeaseGone reports whether a claim is the lease of a session that has expired or was erased.
func LeaseGone(rows kv.Reader, scope, claim string, wall int64) (bool, error) {
	session, ok := agent.ClaimedSession(claim)
	if !ok {
		return false, nil
	}
	return SessionIDGone(rows, scope, session, wall)
}

// CheckNotErased refuses to write to an erased agent while its seal holds.
func CheckNotErased(c *Tx, name string) error {
	row, err := LoadErasure(c, name)
	if err != nil || row.GetSealedUntil() <= c.Progress.Wall {
		return err
	}
	e := agent.Errorf(agent.CodeDeleted, "agent %q is erased, and sealed until %d", name, row.SealedUntil)
	e.Incarnation = row.Incarnation
	return e
}

// LoadErasure returns the newest receipt of an agent, nil if there is none.
func LoadErasure(c *Tx, name string) (*logpb.Erasure, error) {
	raw, err := c.Rows.Get(kv.IDKey(kv.KindErasure, c.Scope, name))
	if err != nil || raw == nil {
		return nil, err
	}
	return command.DecodeErasureRow(name, raw)
}

// Eraser removes data of an erased agent, and counts it in the erasure's receipt. Ops use it when
// they find such rows before the erasure does.
type Eraser interface {
	EraseSession(c *Tx, id string) error
	EraseConversation(c *Tx, id string) error
}
