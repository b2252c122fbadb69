package session

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/txn"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// decisions are the statuses that decisions lead to.
var decisions = map[agent.ReviewDecision]agent.ReviewStatus{
	agent.DecideApprove: agent.ReviewApproved,
	agent.DecideDeny:    agent.ReviewDenied,
	agent.DecideEdit:    agent.ReviewEdited,
}

// DecideReview runs decide_review.
func DecideReview(c *txn.Tx, op *agent.DecideReview) (agent.OpResult, error) {
	row, err := loadReview(c, op.Review)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, txn.NotFound("review", op.Review)
	}
	status, ok := decisions[op.Decision]
	if !ok {
		return nil, agent.Invalid("decision", "%q is no decision", op.Decision)
	}
	if review := command.DecodeReview(op.Review, row); !review.MayDecide(c.Principal) {
		return nil, agent.NotADecider(op.Review, c.Principal)
	}
	if err := mayDecide(c, op, row); err != nil {
		return nil, err
	}
	if err := closeReview(c, op.Review, row, status, func() {
		row.DecidedBy, row.Note = op.By, op.Note
		if status == agent.ReviewEdited {
			row.Decided = op.Arguments
		}
	}); err != nil {
		return nil, err
	}
	return &agent.ReviewResult{Review: command.DecodeReview(op.Review, row)}, nil
}

// mayDecide accepts the first answer, in time. A review expires at its deadline, even if it has not
// been swept.
func mayDecide(c *txn.Tx, op *agent.DecideReview, row *logpb.ReviewRow) error {
	now := c.Progress.Wall
	if seededbug.Is(seededbug.ReviewExpiresByNode) {
		now = seededbug.NodeClock()
	}
	e := agent.Errorf(agent.CodeReviewDecided, "review %q is %s, since %d, by %q", op.Review, row.Status, row.DecidedAt, row.DecidedBy)
	switch {
	case row.Status == string(agent.ReviewExpired), pending(row) && txn.Expired(row.ExpiresAt, now):
		e = agent.Errorf(agent.CodeApprovalExpired, "review %q expired at %d, now it is %d", op.Review, row.ExpiresAt, c.Progress.Wall)
		e.ExpiresAt = row.ExpiresAt
	case !pending(row) && !seededbug.Is(seededbug.ReviewDecidedTwice):
		e.Holder = row.DecidedBy
	case op.InterruptID != "" && op.InterruptID != row.Interrupt:
		e = agent.Errorf(agent.CodeApprovalMismatch, "review %q is of interrupt %q, not of %q", op.Review, row.Interrupt, op.InterruptID)
	default:
		return nil
	}
	e.State = row.Status
	return e
}

// closeReview answers a pending review, and records that in the session's thread. It makes the
// session resumable if it waited for nothing else.
func closeReview(c *txn.Tx, id string, row *logpb.ReviewRow, status agent.ReviewStatus, fill func()) error {
	if err := changeReview(c, id, row, func() {
		row.Status, row.DecidedAt = string(status), c.Progress.Wall
		fill()
	}); err != nil {
		return err
	}
	s, err := Open(c, row.Session)
	if err != nil {
		return err
	}
	if s == nil {
		return fmt.Errorf("review %q is of session %q, which does not exist", id, row.Session)
	}
	s.Row.PendingReviews--
	review := command.DecodeReview(id, row)
	denied := status == agent.ReviewDenied || status == agent.ReviewExpired
	switch {
	case s.status() != agent.SessionWaiting:
	case s.classic() && denied:
		if err := failSession(c, s, review); err != nil {
			return err
		}
	case s.Row.PendingReviews == 0:
		s.Row.Status = string(agent.SessionHibernated)
	}
	if err := storeSession(c, s); err != nil {
		return err
	}
	if s.Row.Settings.Thread == "" {
		return nil
	}
	return appendNote(c, s.Row.Settings.Thread, review.DecisionEntry())
}

// failSession fails the session after a denial in classic mode. If the session has no room for the
// failure, it is left out: a sweep cannot be refused, and the review has the decision.
func failSession(c *txn.Tx, s *Session, review agent.Review) error {
	body, err := sessionBody(c.Rows, c.Scope, s.Id)
	if err != nil {
		return err
	}
	body.Failure = review.DecisionEntry().Payload
	if bodySize(body) > agent.SessionBytesMax && (review.Status == agent.ReviewExpired || c.Level >= txn.DenialLevel) {
		body.Failure = nil
	}
	s.Row.Status = string(agent.SessionFailed)
	if err := closeRequest(c, s, agent.RequestFailed); err != nil {
		return err
	}
	return storeSessionBody(c, s, body)
}

// ExpireReview handles a due review: it expires, or is escalated.
func ExpireReview(c *txn.Tx, id string, when int64) error {
	row, err := readReview(c.Rows, c.Scope, id)
	if err != nil || row == nil || ReviewDue(row) != when {
		return err
	}
	if gone, err := txn.SessionIDGone(c.Rows, c.Scope, row.Session, c.Progress.Wall); err != nil || gone {
		return err // it is removed with its session
	}
	if txn.Expired(row.ExpiresAt, c.Progress.Wall) {
		return closeReview(c, id, row, agent.ReviewExpired, func() {
			if c.Level >= txn.DeadlineLevel {
				row.DecidedAt = row.ExpiresAt
			}
		})
	}
	return changeReview(c, id, row, func() {
		row.Escalated = true
		row.Assignee = orDefaultWord(row.EscalateTo, row.Assignee)
	})
}
