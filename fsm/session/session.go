package session

import (
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
	oppb "dormouse/proto/op"
)

// Ops are the ops on sessions and reviews.
var Ops = []txn.Op{
	txn.OpOf(Put), txn.OpOf(Claim), txn.OpOf(Resume), txn.OpOf(Recover), txn.OpOf(Checkpoint),
	txn.OpOf(Commit), txn.OpOf(Renew), txn.OpOf(Cancel), txn.OpOf(Fork), txn.OpOf(Delete),
	txn.OpOf(DecideReview),
}

// Reads are the reads of sessions and reviews.
var Reads = []txn.Read{txn.ReadOf(Get), txn.ReadOf(List), txn.ReadOf(GetReview), txn.ReadOf(ListReviews)}

// Session is a session while a commit works on it. The commit may change and store its row.
type Session struct {
	Id     string
	Row    *logpb.SessionRow
	places []string // its stored index rows
	epoch  uint64   // of its stored lease
}

// Open returns the session of an id, or nil. It first removes an expired or erased one.
func Open(c *txn.Tx, id string) (*Session, error) {
	s, err := LoadStored(c, id)
	if err != nil || s == nil {
		return nil, err
	}
	gone, err := txn.SessionGone(c.Rows, c.Scope, s.Row, c.Progress.Wall)
	if err != nil || !gone {
		return s, err
	}
	return nil, clearGone(c, s)
}

// LoadStored returns a session whose rows exist, or nil.
func LoadStored(c *txn.Tx, id string) (*Session, error) {
	if err := agent.ValidSessionKey("session", id); err != nil {
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
	return &Session{Id: id, Row: row, places: sessionPlaces(c.Scope, id, row), epoch: row.GetLease().GetEpoch()}, nil
}

// Load returns the session of an id, which must exist.
func Load(c *txn.Tx, id string) (*Session, error) {
	s, err := Open(c, id)
	if err == nil && s == nil {
		err = txn.NotFound("session", id)
	}
	return s, err
}

// Incarnation returns the incarnation of the session, 0 if there is none.
func (s *Session) Incarnation() uint64 {
	if s == nil {
		return 0
	}
	return s.Row.Incarnation
}

func (s *Session) classic() bool { return s.Row.Mode == string(agent.SessionModeClassic) }

func (s *Session) status() agent.SessionStatus { return agent.SessionStatus(s.Row.Status) }

func (s *Session) running() bool { return s.status() == agent.SessionRunning }

// sessionPlaces returns the index rows of a session.
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

// newSession returns a session that is not stored yet.
func newSession(c *txn.Tx, id string) *Session {
	c.AddUsage(1, 0)
	return &Session{Id: id, Row: &logpb.SessionRow{
		Incarnation: c.NewIncarnation(), Status: string(agent.SessionNew), Settings: &oppb.SessionSettings{}, CreatedAt: c.Progress.Wall,
	}}
}

// storeSession writes a session's next revision and its index rows.
func storeSession(c *txn.Tx, s *Session) error {
	s.Row.Revision++
	s.Row.UpdatedAt = c.Progress.Wall
	raw := command.Marshal(s.Row)
	key := kv.IDKey(kv.KindSession, c.Scope, s.Id)
	c.Rows.Set(key, raw)
	c.NotifyWatchers(key)
	places := sessionPlaces(c.Scope, s.Id, s.Row)
	for _, place := range s.places {
		if slices.Contains(places, place) {
			continue
		}
		if err := c.Unplace(place); err != nil {
			return err
		}
	}
	for _, place := range places {
		if slices.Contains(s.places, place) {
			continue
		}
		if err := c.Place(place); err != nil {
			return err
		}
	}
	if epoch := s.Row.GetLease().GetEpoch(); epoch != s.epoch {
		c.Rows.Remove(kv.IDKey(kv.KindSessionRecoverable, c.Scope, s.Id))
		s.epoch = epoch
	}
	s.places = places
	sessionChanged(c, s)
	return nil
}

func sessionChanged(c *txn.Tx, s *Session) {
	c.RecordChange(&logpb.Change{Kind: string(agent.ChangedSession), Key: s.Id, Revision: s.Row.Revision, Status: s.Row.Status})
}

// Stored writes a session and returns it as the op's result.
func Stored(c *txn.Tx, s *Session) (*agent.SessionResult, error) {
	if err := storeSession(c, s); err != nil {
		return nil, err
	}
	row, err := sessionsIn(c).row(s.Id, s.Row)
	return &agent.SessionResult{Session: row}, err
}

// sessionsIn returns a reader of sessions for this op.
func sessionsIn(c *txn.Tx) sessionReader {
	return sessionReader{rows: c.Rows, scope: c.Scope, opening: c.Opening, now: c.Progress}
}

// sessionBody reads a session's body, which the commit may change.
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

// bodySize returns the bytes of a body's contents.
func bodySize(body *logpb.SessionBody) int {
	return len(body.Spec) + len(body.Metadata) + len(body.Environment) + len(body.Result) + len(body.Failure) +
		len(body.Conversation.GetAgentState()) + len(body.Conversation.GetContextState())
}

// storeSessionBody writes a body, within its bound: parts that were written at different times may
// be too large together.
func storeSessionBody(c *txn.Tx, s *Session, body *logpb.SessionBody) error {
	size := bodySize(body)
	if size > agent.SessionBytesMax {
		return agent.TooLarge("session", "session_bytes_max", size, agent.SessionBytesMax)
	}
	if err := indexMetadata(c, s.Id, body.Metadata); err != nil {
		return err
	}
	raw := command.Marshal(body)
	c.Rows.Set(kv.IDKey(kv.KindSessionBody, c.Scope, s.Id), raw)
	c.AddUsage(0, int64(size)-int64(s.Row.BodySize))
	s.Row.BodySize = uint64(size)
	s.Row.ContinuationRevision = body.Conversation.GetContinuationRevision()
	return nil
}

// indexMetadata replaces the index rows of a session. Its body from before must still be stored, if it
// has one.
func indexMetadata(c *txn.Tx, id string, metadata agent.JSON) error {
	if !c.HasMetadataIndex() {
		return nil
	}
	raw, err := c.Rows.Get(kv.IDKey(kv.KindSessionBody, c.Scope, id))
	if err != nil {
		return err
	}
	before := &logpb.SessionBody{}
	if raw != nil {
		if before, err = sessionBody(c.Rows, c.Scope, id); err != nil {
			return err
		}
	}
	c.IndexMetadata(kv.KindSession, id, before.Metadata, metadata)
	return nil
}

// Delete runs delete_session.
func Delete(c *txn.Tx, op *agent.DeleteSession) (agent.OpResult, error) {
	s, err := Open(c, op.Session)
	if err != nil {
		return nil, err
	}
	if err := txn.SameIncarnation(op.Session, op.IfIncarnation, s.Incarnation()); err != nil {
		return nil, err
	}
	if s == nil {
		if err := txn.RevisionMatches(op.Session, op.IfRevision, 0); err != nil {
			return nil, err
		}
		return c.DeleteMissing(kv.KindSessionTombstone, op.Session, op.Seal)
	}
	if err := txn.RevisionMatches(op.Session, op.IfRevision, s.Row.Revision); err != nil {
		return nil, err
	}
	if err := Drop(c, s); err != nil {
		return nil, err
	}
	return &agent.DeleteResult{Existed: true, Incarnation: s.Row.Incarnation},
		c.WriteTombstone(kv.KindSessionTombstone, s.Id, s.Row.Incarnation, op.Seal)
}

// Drop removes a session with all its rows.
func Drop(c *txn.Tx, s *Session) error {
	if err := endTurn(c, s); err != nil {
		return err
	}
	if err := dropReviews(c, s); err != nil {
		return err
	}
	key := kv.IDKey(kv.KindSession, c.Scope, s.Id)
	c.Rows.Remove(key)
	c.ClearExpiry(s.Row.ExpiresAt, key)
	c.NotifyWatchers(key)
	c.Removed(agent.ChangedSession, s.Id)
	if err := indexMetadata(c, s.Id, nil); err != nil {
		return err
	}
	c.Rows.Remove(kv.IDKey(kv.KindSessionBody, c.Scope, s.Id))
	c.Rows.Remove(kv.IDKey(kv.KindSessionRecoverable, c.Scope, s.Id))
	for _, place := range s.places {
		if err := c.Unplace(place); err != nil {
			return err
		}
	}
	for _, kind := range []string{kv.KindSessionRequest, kv.KindSessionSnapshot, kv.KindSessionQueue} {
		prefix := kv.IDKey(kind, c.Scope, s.Id)
		if err := c.Rows.RemoveRange(prefix, kv.After(prefix)); err != nil {
			return err
		}
	}
	c.AddUsage(-1, -int64(Bytes(s.Row)))
	return nil
}

func sum(sizes []uint64) (total uint64) {
	for _, size := range sizes {
		total += size
	}
	return total
}
