package fsm

import (
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// openedSession is a session while a commit works on it: its row is the commit's to
// change, and to store.
type openedSession struct {
	id     string
	row    *logpb.SessionRow
	places []string // its rows in the indexes, as they are stored
	epoch  uint64   // of its lease, as it is stored
}

// openSession is the session of an id, or nil. One that is gone is cleared away
// first, so that it is as if it had never been there.
func openSession(c *txn.Tx, id string) (*openedSession, error) {
	s, err := storedSession(c, id)
	if err != nil || s == nil {
		return nil, err
	}
	gone, err := txn.SessionGone(c.Rows, c.Scope, s.row, c.Progress.Wall)
	if err != nil || !gone {
		return s, err
	}
	return nil, clearGone(c, s)
}

// storedSession is a session whose rows are there, or nil.
func storedSession(c *txn.Tx, id string) (*openedSession, error) {
	if err := agent.ValidSessionID("session", id); err != nil {
		return nil, err
	}
	raw, err := c.Rows.Get(kv.IDKey(kv.KindSession, c.Scope, id))
	if err != nil || raw == nil {
		return nil, err
	}
	row, err := command.DecodeSessionRow(id, raw)
	if err != nil {
		return nil, err
	}
	return &openedSession{id: id, row: row, places: sessionPlaces(c.Scope, id, row), epoch: row.GetLease().GetEpoch()}, nil
}

// theSession is the session of an id, which must be there.
func theSession(c *txn.Tx, id string) (*openedSession, error) {
	s, err := openSession(c, id)
	if err == nil && s == nil {
		err = txn.NotFound("session", id)
	}
	return s, err
}

func (s *openedSession) incarnation() uint64 {
	if s == nil {
		return 0
	}
	return s.row.Incarnation
}

func (s *openedSession) classic() bool { return s.row.Mode == string(agent.SessionModeClassic) }

func (s *openedSession) status() agent.SessionStatus { return agent.SessionStatus(s.row.Status) }

func (s *openedSession) running() bool { return s.status() == agent.SessionRunning }

// sessionPlaces are the rows by which a session is found.
func sessionPlaces(scope, id string, row *logpb.SessionRow) []string {
	places := []string{
		kv.IndexKey(kv.KindSessionStatus, scope, row.Status, id),
		kv.IndexKey(kv.KindSessionAgent, scope, row.Agent, id),
	}
	if row.Lease != nil {
		places = append(places, kv.IndexKey(kv.KindSessionOwner, scope, row.Lease.Owner, id))
	}
	return places
}

// newSession is a session that is not there yet.
func newSession(c *txn.Tx, id string) *openedSession {
	c.AddUsage(1, 0)
	return &openedSession{id: id, row: &logpb.SessionRow{
		Incarnation: c.NewIncarnation(), Status: string(agent.SessionNew), CreatedAt: c.Progress.Wall,
	}}
}

// storeSession writes a session's next revision, and where it is found.
func storeSession(c *txn.Tx, s *openedSession) error {
	s.row.Revision++
	s.row.UpdatedAt = c.Progress.Wall
	raw, err := command.Marshal(s.row)
	if err != nil {
		return fmt.Errorf("encode session %q: %w", s.id, err)
	}
	key := kv.IDKey(kv.KindSession, c.Scope, s.id)
	c.Rows.Set(key, raw)
	c.NotifyWatchers(key)
	places := sessionPlaces(c.Scope, s.id, s.row)
	for _, place := range s.places {
		if !slices.Contains(places, place) {
			c.Rows.Remove(place)
		}
	}
	for _, place := range places {
		if !slices.Contains(s.places, place) {
			c.Rows.Set(place, kv.Indexed)
		}
	}
	if epoch := s.row.GetLease().GetEpoch(); epoch != s.epoch {
		c.Rows.Remove(kv.IDKey(kv.KindSessionRecoverable, c.Scope, s.id))
		s.epoch = epoch
	}
	s.places = places
	sessionChanged(c, s)
	return nil
}

func sessionChanged(c *txn.Tx, s *openedSession) {
	c.RecordChange(&logpb.Change{Kind: string(agent.ChangedSession), Key: s.id, Revision: s.row.Revision, Status: s.row.Status})
}

// storedResult writes a session and is what its op answers.
func storedResult(c *txn.Tx, s *openedSession) (*agent.SessionResult, error) {
	if err := storeSession(c, s); err != nil {
		return nil, err
	}
	row, err := sessionsIn(c).row(s.id, s.row)
	return &agent.SessionResult{Session: row}, err
}

// sessionsIn shows sessions as of this op.
func sessionsIn(c *txn.Tx) sessionReader {
	return sessionReader{rows: c.Rows, scope: c.Scope, opening: c.Opening, now: c.Progress}
}

// sessionBody reads a session's body, which is the commit's to change.
func sessionBody(rows kv.Reader, scope, id string) (*logpb.SessionBody, error) {
	raw, err := rows.Get(kv.IDKey(kv.KindSessionBody, scope, id))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, fmt.Errorf("session %q has no body", id)
	}
	body := &logpb.SessionBody{}
	if err := command.Unmarshal(raw, body); err != nil {
		return nil, fmt.Errorf("decode the body of session %q: %w", id, err)
	}
	return body, nil
}

// storeSessionBody writes a body, within its bound: parts that were written at
// different times may be too much together.
func storeSessionBody(c *txn.Tx, s *openedSession, body *logpb.SessionBody) error {
	size := len(body.Spec) + len(body.Metadata) + len(body.Environment) + len(body.Result) + len(body.Failure) +
		len(body.Conversation.GetAgentState()) + len(body.Conversation.GetContextState())
	if size > agent.SessionBytesMax {
		return agent.TooLarge("session", "session_bytes_max", size, agent.SessionBytesMax)
	}
	raw, err := command.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode the body of session %q: %w", s.id, err)
	}
	c.Rows.Set(kv.IDKey(kv.KindSessionBody, c.Scope, s.id), raw)
	c.AddUsage(0, int64(size)-int64(s.row.BodySize))
	s.row.BodySize = uint64(size)
	s.row.ContinuationRevision = body.Conversation.GetContinuationRevision()
	return nil
}

func deleteSession(c *txn.Tx, op *agent.DeleteSession) (agent.OpResult, error) {
	s, err := openSession(c, op.Session)
	if err != nil {
		return nil, err
	}
	if err := txn.SameIncarnation(op.Session, op.IfIncarnation, s.incarnation()); err != nil {
		return nil, err
	}
	if s == nil {
		if err := txn.RevisionMatches(op.Session, op.IfRevision, 0); err != nil {
			return nil, err
		}
		return c.DeleteMissing(kv.KindSessionTombstone, op.Session, op.Seal)
	}
	if err := txn.RevisionMatches(op.Session, op.IfRevision, s.row.Revision); err != nil {
		return nil, err
	}
	if err := dropSession(c, s); err != nil {
		return nil, err
	}
	return &agent.DeleteResult{Existed: true, Incarnation: s.row.Incarnation},
		c.WriteTombstone(kv.KindSessionTombstone, s.id, s.row.Incarnation, op.Seal)
}

// dropSession removes a session with all that is its own.
func dropSession(c *txn.Tx, s *openedSession) error {
	if err := endTurn(c, s); err != nil {
		return err
	}
	if err := dropReviews(c, s); err != nil {
		return err
	}
	key := kv.IDKey(kv.KindSession, c.Scope, s.id)
	c.Rows.Remove(key)
	c.ClearExpiry(s.row.ExpiresAt, key)
	c.NotifyWatchers(key)
	c.Removed(agent.ChangedSession, s.id)
	c.Rows.Remove(kv.IDKey(kv.KindSessionBody, c.Scope, s.id))
	c.Rows.Remove(kv.IDKey(kv.KindSessionRecoverable, c.Scope, s.id))
	for _, place := range s.places {
		c.Rows.Remove(place)
	}
	for _, kind := range []string{kv.KindSessionRequest, kv.KindSessionSnapshot, kv.KindSessionQueue} {
		prefix := kv.IDKey(kind, c.Scope, s.id)
		if err := c.Rows.RemoveRange(prefix, kv.After(prefix)); err != nil {
			return err
		}
	}
	c.AddUsage(-1, -int64(s.row.BodySize+keptBytes(s.row)+sum(s.row.QueueSizes)))
	return nil
}

func sum(sizes []uint64) (total uint64) {
	for _, size := range sizes {
		total += size
	}
	return total
}
