package memstore

import (
	"cmp"
	"math"
	"slices"

	"dormouse/agent"
)

func (m SessionModel) askAll(h SessionHost, s *ModelSession, drafts []agent.ReviewDraft) *agent.Error {
	for _, d := range drafts {
		old, there := m.Reviews[d.ID]
		if there && old.Session != s.ID {
			return refuse(agent.CodeAlreadyExists, *s)
		}
		if there && (m.AsksOnce || old.Status != agent.ReviewWithdrawn) {
			continue
		}
		if there {
			s.forget(d.ID)
		}
		r := agent.Review{
			ID: d.ID, Incarnation: s.Incarnation, Session: s.ID, RequestID: orElse(d.RequestID, s.RequestID), InterruptID: d.InterruptID,
			Operation: d.Operation, Arguments: orEmpty(d.Arguments), Reason: d.Reason, Metadata: orEmpty(d.Metadata),
			Assignee: d.Assignee, EscalateTo: d.EscalateTo, Deciders: d.Deciders, Status: agent.ReviewPending, CreatedAt: h.Now(),
		}
		if d.TTL > 0 {
			r.ExpiresAt = h.Now() + d.TTL.Milliseconds()
		}
		if d.EscalateAfter > 0 {
			r.EscalateAt = h.Now() + d.EscalateAfter.Milliseconds()
		}
		m.Reviews[d.ID] = r
		s.asked = append(slices.Clone(s.asked), d.ID)
	}
	return nil
}

// forget removes a review from those that the session asked for.
func (s *ModelSession) forget(review string) {
	at := slices.Index(s.asked, review)
	s.asked = slices.Delete(slices.Clone(s.asked), at, at+1)
	if s.begun != nil && at < s.begun.asked {
		begun := *s.begun
		begun.asked--
		s.begun = &begun
	}
}

// withdraw closes the pending reviews from one on, but not those that are asked for again.
func (m SessionModel) withdraw(h SessionHost, s ModelSession, from int, asked []agent.ReviewDraft) {
	for _, id := range s.asked[from:] {
		again := slices.ContainsFunc(asked, func(d agent.ReviewDraft) bool { return d.ID == id })
		if r := m.Reviews[id]; r.Status == agent.ReviewPending && !again {
			r.Status, r.DecidedAt = agent.ReviewWithdrawn, h.Now()
			m.Reviews[id] = r
		}
	}
}

func (m SessionModel) decide(h SessionHost, o *agent.DecideReview) (agent.OpResult, *agent.Error) {
	r, there := m.Reviews[o.Review]
	e := agent.Errorf(agent.CodeReviewDecided, "review %q is %s", r.ID, r.Status)
	e.State, e.Holder = string(r.Status), r.DecidedBy
	switch {
	case !there:
		return nil, agent.Errorf(agent.CodeNotFound, "there is no review %q", o.Review)
	case !r.MayDecide(h.Principal()):
		return nil, agent.NotADecider(o.Review, h.Principal())
	case r.Status == agent.ReviewExpired:
		e.Code, e.ExpiresAt = agent.CodeApprovalExpired, r.ExpiresAt
		return nil, e
	case r.Status != agent.ReviewPending:
		return nil, e
	case o.InterruptID != "" && o.InterruptID != r.InterruptID:
		e.Code = agent.CodeApprovalMismatch
		return nil, e
	}
	r.DecidedBy, r.Note, r.Status = o.By, o.Note, agent.ReviewApproved
	switch o.Decision {
	case agent.DecideEdit:
		r.Status, r.Decided = agent.ReviewEdited, o.Arguments
	case agent.DecideDeny:
		r.Status = agent.ReviewDenied
	case agent.DecideApprove:
	}
	return &agent.ReviewResult{Review: m.close(h, r)}, nil
}

// close decides a review, and continues its session.
func (m SessionModel) close(h SessionHost, r agent.Review) agent.Review {
	if r.DecidedAt = h.Now(); r.Status == agent.ReviewExpired && !m.ExpiresLate {
		r.DecidedAt = r.ExpiresAt
	}
	m.Reviews[r.ID] = r
	s := m.Sessions[r.Session]
	denied := r.Status == agent.ReviewDenied || r.Status == agent.ReviewExpired
	switch {
	case s.Status != agent.SessionWaiting:
	case s.Mode == agent.SessionModeClassic && denied:
		s.Requests = slices.Clone(s.Requests)
		s.answer(agent.RequestFailed)
		s.Status, s.failure = agent.SessionFailed, r.DecisionEntry().Payload
	case len(m.pending(s)) == 0:
		s.Status = agent.SessionHibernated
	}
	m.store(h, s)
	if s.Thread != "" {
		h.Note(s.Thread, r.DecisionEntry())
	}
	return r
}

// Pass expires and escalates the reviews that are due, in the order of their
// deadlines. An escalation that is as late as the expiry is skipped: the review
// expires.
func (m SessionModel) Pass(h SessionHost) {
	all := m.List(agent.ListReviews{})
	slices.SortStableFunc(all, func(a, b agent.Review) int {
		return cmp.Or(cmp.Compare(nextTime(a), nextTime(b)), cmp.Compare(a.ID, b.ID))
	})
	for _, r := range all {
		switch now := h.Now(); {
		case r.ExpiresAt != 0 && r.ExpiresAt <= now:
			r.Status = agent.ReviewExpired
			m.close(h, r)
		case r.EscalateAt != 0 && r.EscalateAt <= now && !r.Escalated:
			r.Escalated, r.Assignee = true, orElse(r.EscalateTo, r.Assignee)
			m.Reviews[r.ID] = r
		}
	}
}

// nextTime returns when a pending review is escalated, or expires if that is earlier
// or it was escalated.
func nextTime(r agent.Review) int64 {
	if r.EscalateAt != 0 && !r.Escalated && r.EscalateAt < deadline(r) {
		return r.EscalateAt
	}
	return deadline(r)
}

// List returns all reviews that ListReviews selects.
func (m SessionModel) List(q agent.ListReviews) (all []agent.Review) {
	if q.Session != "" {
		for _, id := range m.Sessions[q.Session].asked {
			if r := m.Reviews[id]; q.Status == "" || r.Status == q.Status {
				all = append(all, r)
			}
		}
		return all
	}
	for _, r := range m.Reviews {
		if r.Status == orElse(q.Status, agent.ReviewPending) && (q.Assignee == "" || r.Assignee == q.Assignee) &&
			(q.Before == 0 || deadline(r) < q.Before) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b agent.Review) int {
		return cmp.Or(cmp.Compare(deadline(a), deadline(b)), cmp.Compare(a.ID, b.ID))
	})
	return all
}

func deadline(r agent.Review) int64 { return orElse(r.ExpiresAt, math.MaxInt64) }
