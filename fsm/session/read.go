package session

import (
	"fmt"
	"slices"
	"strings"

	"dormouse/agent"
	"dormouse/api/ops"
	"dormouse/fsm/claim"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// sessionReader reads sessions at one entry: for an op, or for a view.
type sessionReader struct {
	rows    kv.Reader
	scope   string
	opening txn.TermStart
	now     txn.Progress
}

func sessionsOf(r txn.Reader) (sessionReader, error) {
	o, err := txn.ReadTermStart(r.Engine)
	return sessionReader{rows: r.Reader, scope: r.Scope, opening: o, now: r.Progress}, err
}

// lease returns the lease of a session's running turn, or nil. over reports that the lease has
// ended, so that the turn is recoverable.
func (r sessionReader) lease(id string, row *logpb.SessionRow) (lease *agent.Lease, over bool, err error) {
	held := row.Lease
	if held == nil {
		return nil, false, nil
	}
	lease = &agent.Lease{
		LeaseID: agent.LeaseID(held.Epoch), Owner: held.Owner, RequestID: row.Request, Epoch: held.Epoch, AcquiredAt: held.AcquiredAt,
	}
	name := agent.SessionClaim(id)
	raw, err := r.rows.Get(kv.IDKey(kv.KindClaim, r.scope, name))
	if err != nil {
		return nil, false, err
	}
	if raw != nil {
		holding, err := claim.DecodeRow(name, raw)
		if err != nil {
			return nil, false, err
		}
		if holding.Epoch == held.Epoch {
			lease.ExpiresAt = claim.Standing(name, holding, r.opening, r.now).ExpiresAt
			return lease, claim.Lapsed(holding, r.opening, r.now.Tick), nil
		}
	}
	when, err := r.rows.Get(kv.IDKey(kv.KindSessionRecoverable, r.scope, id))
	lease.ExpiresAt = int64(kv.DecodeNumber(when))
	return lease, true, err
}

// row returns a session without its contents.
func (r sessionReader) row(id string, row *logpb.SessionRow) (agent.SessionRow, error) {
	lease, over, err := r.lease(id, row)
	return agent.SessionRow{
		ID: id, Incarnation: row.Incarnation, Revision: row.Revision, Mode: agent.SessionMode(row.Mode),
		SessionSettings: ops.SessionSettingsFromProto(row.Settings), Agent: row.Agent, Status: agent.SessionStatus(row.Status),
		RequestID: row.Request, Lease: lease, Recoverable: over,
		RequestCount: uint64(len(row.RequestSizes)), SnapshotCount: uint64(len(row.Snapshots)), QueueLength: uint64(len(row.QueueSizes)),
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, ExpiresAt: row.ExpiresAt,
	}, err
}

// Get answers get_session.
func Get(r txn.Reader, q *agent.GetSession) (agent.Found, error) {
	raw, err := r.Get(kv.IDKey(kv.KindSession, r.Scope, q.Session))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, txn.NotFound("session", q.Session)
	}
	row, err := command.DecodeSessionRow(q.Session, raw)
	if err != nil {
		return nil, err
	}
	if gone, err := txn.SessionGone(r.Reader, r.Scope, row, r.Progress.Wall); err != nil {
		return nil, err
	} else if gone {
		return nil, txn.NotFound("session", q.Session)
	}
	sessions, err := sessionsOf(r)
	if err != nil {
		return nil, err
	}
	s, err := sessions.whole(q.Session, row)
	if err == nil && (s.Status == agent.SessionWaiting || s.Mode == agent.SessionModeClassic) {
		s.PendingReviews, err = pendingReviews(r, q.Session, row)
	}
	return s, err
}

// whole returns a session with all its contents except its reviews.
func (r sessionReader) whole(id string, row *logpb.SessionRow) (*agent.Session, error) {
	body, err := sessionBody(r.rows, r.scope, id)
	if err != nil {
		return nil, err
	}
	s := &agent.Session{
		Spec: body.Spec, Metadata: body.Metadata, Environment: body.Environment, Result: body.Result,
	}
	if s.SessionRow, err = r.row(id, row); err != nil {
		return nil, err
	}
	if c := command.DecodeConversation(body.Conversation); c != nil {
		s.Conversation = *c
	}
	if s.Status == agent.SessionFailed || s.Status == agent.SessionCancelled {
		s.Failure = body.Failure
	}
	if l := row.Lineage; l != nil {
		s.Lineage = &agent.Lineage{Session: l.Session, Incarnation: l.Incarnation, Revision: l.Revision, Snapshot: l.Snapshot}
	}
	if s.Requests, err = r.requests(kv.KindSessionRequest, id, row.RequestsEnd, len(row.RequestSizes)); err != nil {
		return nil, err
	}
	if s.Queue, err = r.requests(kv.KindSessionQueue, id, row.QueueEnd, len(row.QueueSizes)); err != nil {
		return nil, err
	}
	for _, k := range row.Snapshots {
		p := &logpb.SessionSnapshot{}
		if err := r.numbered(kv.KindSessionSnapshot, id, k.Ordinal, p); err != nil {
			return nil, err
		}
		s.Snapshots = append(s.Snapshots, command.DecodeSessionSnapshot(p))
	}
	return s, nil
}

// requests returns the last n requests below an ordinal.
func (r sessionReader) requests(kind, id string, end uint64, n int) (all []agent.SessionRequest, err error) {
	for ordinal := end - uint64(n); ordinal < end; ordinal++ {
		p := &logpb.SessionRequest{}
		if err := r.numbered(kind, id, ordinal, p); err != nil {
			return nil, err
		}
		all = append(all, *command.DecodeSessionRequest(p))
	}
	return all, nil
}

// numbered reads one of a session's numbered rows, which must exist.
func (r sessionReader) numbered(kind, id string, ordinal uint64, into command.Coded) error {
	raw, err := r.rows.Get(kv.OrdinalKey(kind, r.scope, id, ordinal))
	if err != nil {
		return err
	}
	if raw == nil {
		return fmt.Errorf("session %q lacks a row, number %d of its kind", id, ordinal)
	}
	if err := command.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("decode row %d of session %q: %w", ordinal, id, err)
	}
	return nil
}

// pendingReviews returns a session's pending reviews, oldest first. It reads the reviews that exist, from the newest
// on: the numbers of an imported session may not fit them. An overdue review has expired, swept or not.
func pendingReviews(r txn.Reader, id string, row *logpb.SessionRow) (all []agent.Review, err error) {
	prefix := kv.IDKey(kv.KindReviewSession, r.Scope, id)
	cursor, err := r.Engine.ScanBack([]byte(prefix), []byte(kv.After(prefix)))
	if err != nil {
		return nil, err
	}
	for left := row.PendingReviews; left > 0 && cursor.Next(); {
		name := string(cursor.Value())
		var review *logpb.ReviewRow
		if review, err = readReview(r.Reader, r.Scope, name); err == nil && review == nil {
			err = fmt.Errorf("session %q names review %q, which does not exist", id, name)
		}
		if err != nil {
			break
		}
		if pending(review) {
			left--
			if one := currentReview(r, name, review); one.Status == agent.ReviewPending {
				all = append(all, one)
			}
		}
	}
	if closed := cursor.Close(); err == nil {
		err = closed
	}
	slices.Reverse(all)
	return all, err
}

// List answers list_sessions.
func List(r txn.Reader, q *agent.ListSessions) (agent.Found, error) {
	sessions, err := sessionsOf(r)
	if err != nil {
		return nil, err
	}
	list := &agent.SessionList{}
	add := func(id string, raw []byte) (int, error) {
		row, err := command.DecodeSessionRow(id, raw)
		if err != nil {
			return 0, err
		}
		if gone, err := txn.SessionGone(r.Reader, r.Scope, row, r.Progress.Wall); err != nil || gone || !q.Has(row.UpdatedAt) {
			return 0, err
		}
		if len(q.Where) > 0 {
			if body, err := sessionBody(r.Reader, r.Scope, id); err != nil || !q.Where.Match(body.Metadata) {
				return -int(row.BodySize), err
			}
		}
		item, err := sessions.row(id, row)
		list.Items = append(list.Items, item)
		return len(id) + len(raw), err
	}
	if q.Recoverable {
		list.Next, err = recoverable(r, sessions, q.Page, add)
		return list, err
	}
	index := sessionIndex(r.Scope, q)
	if index == "" {
		list.Next, err = r.EachListed(kv.KindSession, q.Where, q.Page, add)
		return list, err
	}
	list.Next, err = r.EachInPage(index, q.Page, func(id string, _ []byte) (int, error) {
		raw, err := r.Get(kv.IDKey(kv.KindSession, r.Scope, id))
		if err != nil {
			return 0, err
		}
		return add(id, raw)
	})
	return list, err
}

// sessionIndex returns the key prefix of the index rows that a list reads; "" for all sessions.
func sessionIndex(scope string, q *agent.ListSessions) string {
	switch {
	case q.Status != "":
		return kv.IDKey(kv.KindSessionStatus, scope, string(q.Status))
	case q.Owner != "":
		return kv.IDKey(kv.KindSessionOwner, scope, q.Owner)
	case q.Agent != "":
		return kv.IDKey(kv.KindSessionAgent, scope, q.Agent)
	}
	return ""
}

// recoverable lists the sessions whose lease has ended. These are sessions whose claim was removed,
// and sessions in the claim queue that are due but not removed yet: few, since every entry removes
// some.
func recoverable(r txn.Reader, sessions sessionReader, page agent.Page, add func(id string, raw []byte) (int, error)) (next string, err error) {
	ids, err := unswept(r, sessions, page)
	if err != nil {
		return "", err
	}
	limit := min(txn.OrDefault(page.Limit, agent.ListLimitDefault), agent.ListLimitMax)
	page.Limit = agent.ListLimitMax
	more, err := r.EachInPage(kv.ScopeKey(kv.KindSessionRecoverable, r.Scope), page, func(id string, _ []byte) (int, error) {
		ids = append(ids, id)
		return 1, nil
	})
	if err != nil {
		return "", err
	}
	slices.Sort(ids)
	for i, id := range slices.Compact(ids) {
		if uint64(i) == limit {
			return next, nil
		}
		raw, err := r.Get(kv.IDKey(kv.KindSession, r.Scope, id))
		if err != nil {
			return "", err
		}
		if _, err := add(id, raw); err != nil {
			return "", err
		}
		next = id
	}
	return more, nil
}

// unswept returns the sessions of a page whose lease has expired while its claim's row still
// exists.
func unswept(r txn.Reader, sessions sessionReader, page agent.Page) (ids []string, err error) {
	cursor, err := r.Engine.Scan([]byte(kv.KindDueClaim), []byte(kv.KindDueClaim+kv.EncodeNumber(txn.AddTicks(r.Progress.Tick, 1))))
	if err != nil {
		return nil, err
	}
	var due []string
	for cursor.Next() {
		_, rest, _ := kv.SplitDue(string(cursor.Key()))
		scope, claim, _ := strings.Cut(rest, kv.Separator)
		id, ok := agent.ClaimedSession(claim)
		if ok && scope == r.Scope && strings.HasPrefix(id, page.Prefix) && id > page.After {
			due = append(due, id)
		}
	}
	if err := cursor.Close(); err != nil {
		return nil, err
	}
	for _, id := range due {
		raw, err := r.Get(kv.IDKey(kv.KindSession, r.Scope, id))
		if err != nil {
			return nil, err
		}
		if raw == nil {
			continue
		}
		row, err := command.DecodeSessionRow(id, raw)
		if err != nil {
			return nil, err
		}
		if _, over, err := sessions.lease(id, row); err != nil || !over {
			if err != nil {
				return nil, err
			}
			continue
		}
		ids = append(ids, id)
	}
	return ids, nil
}
