package session

import (
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// A session's requests and snapshots are separate rows, so that a claim or a checkpoint does not
// write the whole conversation again. The session's row has their sizes.

// Bytes returns the bytes that a session counts for in its scope, without its reviews.
func Bytes(row *logpb.SessionRow) uint64 {
	return row.BodySize + sum(row.RequestSizes) + snapshotBytes(EverySnapshot(row)) + sum(row.QueueSizes)
}

func snapshotBytes(snapshots []*logpb.KeptSnapshot) (total uint64) {
	for _, k := range snapshots {
		total += k.Size
	}
	return total
}

// EverySnapshot returns the snapshots that have rows, including those that a rollback would
// restore.
func EverySnapshot(row *logpb.SessionRow) []*logpb.KeptSnapshot {
	all := slices.Clone(row.Snapshots)
	for _, k := range row.GetTurn().GetSnapshots() {
		if !keeps(row.Snapshots, k.Ordinal) {
			all = append(all, k)
		}
	}
	return all
}

func keeps(snapshots []*logpb.KeptSnapshot, ordinal uint64) bool {
	return slices.ContainsFunc(snapshots, func(k *logpb.KeptSnapshot) bool { return k.Ordinal == ordinal })
}

// addRequest makes a request the session's newest, which the turn answers.
func addRequest(c *txn.Tx, s *Session, r *logpb.SessionRequest) error {
	r.At, r.Outcome = c.Progress.Wall, string(agent.RequestOpen)
	s.Row.Request, s.Row.RequestOrdinal = r.Id, s.Row.RequestsEnd
	s.Row.RequestsEnd++
	size := requestBytes(r)
	s.Row.RequestSizes = append(s.Row.RequestSizes, size)
	c.AddUsage(0, int64(size))
	if err := setSessionRow(c, kv.OrdinalKey(kv.KindSessionRequest, c.Scope, s.Id, s.Row.RequestOrdinal), r); err != nil {
		return err
	}
	trimHistory(c, s)
	return nil
}

// requestBytes returns the bytes that a request counts for. Its outcome does not count, so the
// number does not change.
func requestBytes(r *logpb.SessionRequest) uint64 {
	return uint64(len(r.Id) + len(r.Input) + len(r.Metadata) + len(r.Owner))
}

func setSessionRow(c *txn.Tx, key string, row command.Coded) error {
	raw := command.Marshal(row)
	c.Rows.Set(key, raw)
	return nil
}

// closeRequest records the outcome of the turn's request, unless that has been trimmed.
func closeRequest(c *txn.Tx, s *Session, outcome agent.RequestOutcome) error {
	if s.Row.Request == "" {
		return nil
	}
	key := kv.OrdinalKey(kv.KindSessionRequest, c.Scope, s.Id, s.Row.RequestOrdinal)
	raw, err := c.Rows.Get(key)
	if err != nil || raw == nil {
		return err
	}
	r := &logpb.SessionRequest{}
	if err := command.Unmarshal(raw, r); err != nil {
		return fmt.Errorf("decode request %q of session %q: %w", s.Row.Request, s.Id, err)
	}
	r.Outcome = string(outcome)
	return setSessionRow(c, key, r)
}

// addSnapshot makes a snapshot the session's newest, and replaces one of the same id.
func addSnapshot(c *txn.Tx, s *Session, given *agent.SessionSnapshot) error {
	if err := agent.ValidKey("snapshot_id", given.ID); err != nil {
		return err
	}
	p := command.EncodeSessionSnapshot(given)
	p.Agent, p.Request = orDefaultWord(p.Agent, s.Row.Agent), orDefaultWord(p.Request, s.Row.Request)
	p.At = c.Progress.Wall
	for i, k := range s.Row.Snapshots {
		if k.Id == p.Id {
			s.Row.Snapshots = slices.Delete(slices.Clone(s.Row.Snapshots), i, i+1)
			dropSnapshot(c, s, k)
			break
		}
	}
	kept := &logpb.KeptSnapshot{
		Ordinal: s.Row.SnapshotsEnd, Id: p.Id, Request: p.Request, RequestOrdinal: s.Row.RequestOrdinal,
		Size: uint64(len(p.Id) + len(p.Agent) + len(p.Request) + len(p.TurnState) + len(p.Metadata) + len(p.CursorMetadata)),
	}
	s.Row.SnapshotsEnd++
	s.Row.Snapshots = append(s.Row.Snapshots, kept)
	c.AddUsage(0, int64(kept.Size))
	if err := setSessionRow(c, kv.OrdinalKey(kv.KindSessionSnapshot, c.Scope, s.Id, kept.Ordinal), p); err != nil {
		return err
	}
	trimHistory(c, s)
	return nil
}

// dropSnapshot removes the row of a snapshot that the session no longer keeps, unless a rollback
// would restore it.
func dropSnapshot(c *txn.Tx, s *Session, k *logpb.KeptSnapshot) {
	if keeps(s.Row.GetTurn().GetSnapshots(), k.Ordinal) {
		return
	}
	c.Rows.Remove(kv.OrdinalKey(kv.KindSessionSnapshot, c.Scope, s.Id, k.Ordinal))
	c.AddUsage(0, -int64(k.Size))
}

// newestSnapshot returns the newest of a session's snapshots, or nil.
func newestSnapshot(row *logpb.SessionRow) *logpb.KeptSnapshot {
	if n := len(row.Snapshots); n > 0 {
		return row.Snapshots[n-1]
	}
	return nil
}

// trimHistory removes the oldest requests and snapshots beyond the limits of a session; the newest
// of each stays.
func trimHistory(c *txn.Tx, s *Session) {
	row := s.Row
	for len(row.RequestSizes) > agent.SessionRequestsMax {
		dropOldestRequest(c, s)
	}
	for len(row.Snapshots) > agent.SessionSnapshotsMax {
		dropOldestSnapshot(c, s)
	}
	for sum(row.RequestSizes)+snapshotBytes(row.Snapshots) > agent.SessionKeptBytesMax {
		switch {
		case len(row.Snapshots) > 1:
			dropOldestSnapshot(c, s)
		case len(row.RequestSizes) > 1:
			dropOldestRequest(c, s)
		default:
			return
		}
	}
}

func dropOldestRequest(c *txn.Tx, s *Session) {
	oldest := s.Row.RequestsEnd - uint64(len(s.Row.RequestSizes))
	c.Rows.Remove(kv.OrdinalKey(kv.KindSessionRequest, c.Scope, s.Id, oldest))
	c.AddUsage(0, -int64(s.Row.RequestSizes[0]))
	s.Row.RequestSizes = s.Row.RequestSizes[1:]
}

func dropOldestSnapshot(c *txn.Tx, s *Session) {
	oldest := s.Row.Snapshots[0]
	s.Row.Snapshots = s.Row.Snapshots[1:]
	dropSnapshot(c, s, oldest)
}

// clearGone removes an expired or erased session that an op or the sweep found. If its agent was
// erased, the receipt counts it, expired or not.
func clearGone(c *txn.Tx, s *Session) error {
	raw, err := c.Rows.Get(kv.IDKey(kv.KindErasing, c.Scope, s.Row.Agent))
	if err != nil {
		return err
	}
	if below, _ := txn.DecodeErasureMark(raw); txn.SessionNamedSince(s.Row) >= below {
		return Drop(c, s)
	}
	return c.Eraser.EraseSession(c, s.Id)
}
