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

// A review is a row with index rows by deadline, by assignee and by session. It is removed with its
// session.

// loadReview returns the review of an id, or nil. If its session is expired or erased, loadReview
// first removes both.
func loadReview(c *txn.Tx, id string) (*logpb.ReviewRow, error) {
	if err := agent.ValidKey("review", id); err != nil {
		return nil, err
	}
	row, err := readReview(c.Rows, c.Scope, id)
	if err != nil || row == nil {
		return nil, err
	}
	gone, err := txn.SessionIDGone(c.Rows, c.Scope, row.Session, c.Progress.Wall)
	if err != nil || !gone {
		return row, err
	}
	_, err = Open(c, row.Session)
	return nil, err
}

func readReview(rows kv.Reader, scope, id string) (*logpb.ReviewRow, error) {
	raw, err := rows.Get(kv.IDKey(kv.KindReview, scope, id))
	if err != nil || raw == nil {
		return nil, err
	}
	row := &logpb.ReviewRow{}
	if err := command.Unmarshal(raw, row); err != nil {
		return nil, fmt.Errorf("decode review %q: %w", id, err)
	}
	return row, nil
}

func pending(row *logpb.ReviewRow) bool { return row.Status == string(agent.ReviewPending) }

func withdrawn(row *logpb.ReviewRow) bool { return row.Status == string(agent.ReviewWithdrawn) }

// ReviewDue returns when a review expires or escalates; 0 means never.
func ReviewDue(row *logpb.ReviewRow) int64 {
	switch {
	case !pending(row):
		return 0
	case row.EscalateAt != 0 && !row.Escalated && (row.ExpiresAt == 0 || row.EscalateAt < row.ExpiresAt):
		return row.EscalateAt
	default:
		return row.ExpiresAt
	}
}

func reviewPlaces(scope, id string, row *logpb.ReviewRow) []string {
	place := kv.ReviewPlace(row.ExpiresAt, id) + kv.Separator
	places := []string{kv.IDKey(kv.KindReviewStatus, scope, row.Status) + place}
	if row.Assignee != "" {
		places = append(places, kv.IDKey(kv.KindReviewAssignee, scope, row.Assignee)+row.Status+kv.Separator+place)
	}
	return places
}

// changeReview applies change to a review's row, and updates the index rows. A new review has no
// status yet.
func changeReview(c *txn.Tx, id string, row *logpb.ReviewRow, change func()) error {
	key := kv.IDKey(kv.KindReview, c.Scope, id)
	if row.Status != "" {
		unplaceReview(c, id, row)
	}
	change()
	for _, place := range reviewPlaces(c.Scope, id, row) {
		c.Rows.Set(place, kv.Indexed)
	}
	c.SetExpiry(ReviewDue(row), key)
	c.RecordChange(&logpb.Change{Kind: string(agent.ChangedReview), Key: id, Status: row.Status})
	return setSessionRow(c, key, row)
}

func unplaceReview(c *txn.Tx, id string, row *logpb.ReviewRow) {
	for _, place := range reviewPlaces(c.Scope, id, row) {
		c.Rows.Remove(place)
	}
	c.ClearExpiry(ReviewDue(row), kv.IDKey(kv.KindReview, c.Scope, id))
}

// askReviews creates the reviews that a turn asks for.
func askReviews(c *txn.Tx, s *Session, drafts []agent.ReviewDraft) error {
	for i := range drafts {
		if err := askReview(c, s, &drafts[i]); err != nil {
			return err
		}
	}
	return nil
}

func askReview(c *txn.Tx, s *Session, d *agent.ReviewDraft) error {
	for _, optional := range []string{d.Assignee, d.EscalateTo} {
		if optional != "" {
			if err := agent.ValidKey("assignee", optional); err != nil {
				return err
			}
		}
	}
	old, err := loadReview(c, d.ID)
	if err == nil && old != nil {
		err = c.Bytes.CountRead(int(ReviewBytes(old)))
	}
	if err != nil {
		return err
	}
	switch {
	case old != nil && old.Session != s.Id:
		return agent.Errorf(agent.CodeAlreadyExists, "review %q belongs to another session: choose another id", d.ID)
	case old != nil && (!withdrawn(old) || c.Level < txn.AskedAgainLevel):
		return nil // asked again, as a resumed turn does: the review stays
	case s.Row.PendingReviews >= agent.SessionReviewsMax:
		return agent.TooLarge("reviews", "session_reviews_max", int(s.Row.PendingReviews)+1, agent.SessionReviewsMax)
	case old != nil:
		dropReview(c, s, d.ID, old) // a withdrawn review makes way for a new one
	case s.Row.Reviews >= agent.SessionReviewsKept:
		if err := forgetReview(c, s); err != nil {
			return err
		}
	}
	row := &logpb.ReviewRow{
		Incarnation: s.Row.Incarnation, Session: s.Id, Request: orDefaultWord(d.RequestID, s.Row.Request), Interrupt: d.InterruptID,
		Operation: d.Operation, Arguments: command.OrEmptyObject(d.Arguments), Reason: d.Reason, Metadata: command.OrEmptyObject(d.Metadata),
		Assignee: d.Assignee, EscalateTo: d.EscalateTo, CreatedAt: c.Progress.Wall, Ordinal: s.Row.ReviewsEnd,
		ExpiresAt: c.Deadline(d.TTL.Milliseconds()), EscalateAt: c.Deadline(d.EscalateAfter.Milliseconds()), Deciders: d.Deciders,
	}
	s.Row.PendingReviews++
	s.Row.Reviews++
	s.Row.ReviewsEnd++
	c.AddUsage(0, ReviewBytes(row))
	c.Rows.Set(kv.OrdinalKey(kv.KindReviewSession, c.Scope, s.Id, row.Ordinal), []byte(d.ID))
	return changeReview(c, d.ID, row, func() { row.Status = string(agent.ReviewPending) })
}

// ReviewBytes returns the bytes that a review counts for; its answer does not count.
func ReviewBytes(row *logpb.ReviewRow) int64 {
	return int64(len(row.Operation) + len(row.Arguments) + len(row.Reason) + len(row.Metadata))
}

// eachReview visits a session's reviews from an ordinal on, oldest first, until visit returns
// false.
func eachReview(c *txn.Tx, s *Session, from uint64, visit func(id string, row *logpb.ReviewRow) (more bool, err error)) error {
	prefix := kv.IDKey(kv.KindReviewSession, c.Scope, s.Id)
	keys, _, err := c.Rows.Keys(prefix+kv.EncodeNumber(from), kv.After(prefix), agent.SessionReviewsKept+1)
	if err != nil {
		return err
	}
	for _, key := range keys {
		id, err := c.Rows.Get(key)
		if err != nil {
			return err
		}
		row, err := readReview(c.Rows, c.Scope, string(id))
		if err != nil {
			return err
		}
		if row == nil {
			return fmt.Errorf("session %q names review %q, which does not exist", s.Id, id)
		}
		if err := c.Bytes.CountRead(int(ReviewBytes(row))); err != nil {
			return err
		}
		if more, err := visit(string(id), row); err != nil || !more {
			return err
		}
	}
	return nil
}

// forgetReview removes the oldest review of a session that is not pending.
func forgetReview(c *txn.Tx, s *Session) error {
	return eachReview(c, s, 0, func(id string, row *logpb.ReviewRow) (bool, error) {
		if pending(row) {
			return true, nil
		}
		dropReview(c, s, id, row)
		c.Removed(agent.ChangedReview, id)
		return false, nil
	})
}

func dropReview(c *txn.Tx, s *Session, id string, row *logpb.ReviewRow) {
	unplaceReview(c, id, row)
	c.Rows.Remove(kv.IDKey(kv.KindReview, c.Scope, id))
	c.Rows.Remove(kv.OrdinalKey(kv.KindReviewSession, c.Scope, s.Id, row.Ordinal))
	c.AddUsage(0, -ReviewBytes(row))
	s.Row.Reviews--
	if pending(row) {
		s.Row.PendingReviews--
	}
}

func dropReviews(c *txn.Tx, s *Session) error {
	return eachReview(c, s, 0, func(id string, row *logpb.ReviewRow) (bool, error) {
		dropReview(c, s, id, row)
		return true, nil
	})
}

// withdrawReviews closes pending reviews from an ordinal on, but not those that asked asks for: the
// session continues without an answer.
func withdrawReviews(c *txn.Tx, s *Session, from uint64, asked ...agent.ReviewDraft) error {
	if s.Row.PendingReviews == 0 {
		return nil
	}
	return eachReview(c, s, from, func(id string, row *logpb.ReviewRow) (bool, error) {
		if !pending(row) || slices.ContainsFunc(asked, func(d agent.ReviewDraft) bool { return d.ID == id }) {
			return true, nil
		}
		s.Row.PendingReviews--
		return true, changeReview(c, id, row, func() {
			row.Status, row.DecidedAt = string(agent.ReviewWithdrawn), c.Progress.Wall
		})
	})
}
