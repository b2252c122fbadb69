package rest_test

import (
	"maps"
	"slices"

	"dormouse/agent"
)

// applySession follows the rules as far as the API's answers depend on them: no lease ever expires,
// and nothing is queued.
func (f *fake) applySession(s *fakeScope, op agent.Op, incarnation uint64) (agent.OpResult, *agent.Error) {
	switch o := op.(type) {
	case *agent.PutSession:
		return f.putSession(s, o, incarnation)
	case *agent.ForkSession:
		source := s.sessions[o.Session]
		if source == nil {
			return nil, agent.Errorf(agent.CodeNotFound, "no session")
		}
		fork := *source
		fork.Lineage = &agent.Lineage{Session: source.ID, Incarnation: source.Incarnation, Revision: source.Revision, Snapshot: o.Snapshot}
		fork.ID, fork.Incarnation, fork.Revision = o.NewSession, incarnation, 0
		s.sessions[o.NewSession] = &fork
		return f.sessionResult(&fork), nil
	case *agent.DeleteSession:
		_, existed := s.sessions[o.Session]
		delete(s.sessions, o.Session)
		return &agent.DeleteResult{Existed: existed}, nil
	case *agent.DecideReview:
		r := s.reviews[o.Review]
		switch {
		case r == nil:
			return nil, agent.Errorf(agent.CodeNotFound, "no review")
		case r.Status != agent.ReviewPending:
			return nil, &agent.Error{Code: agent.CodeReviewDecided, State: string(r.Status), Holder: r.DecidedBy}
		}
		r.Status, r.DecidedBy, r.DecidedAt, r.Decided, r.Note = agent.ReviewApproved, o.By, f.now(), o.Arguments, o.Note
		return &agent.ReviewResult{Review: *r}, nil
	default:
		return f.applyTurn(s, op, incarnation)
	}
}

func (f *fake) putSession(s *fakeScope, o *agent.PutSession, incarnation uint64) (agent.OpResult, *agent.Error) {
	row := s.sessions[o.Session]
	switch {
	case row == nil:
		row = &agent.Session{SessionRow: agent.SessionRow{
			ID: o.Session, Incarnation: incarnation, Mode: agent.SessionModeLease, Busy: agent.BusyReject, Status: agent.SessionNew, CreatedAt: f.now(),
		}}
	case o.IfRevision == nil || *o.IfRevision == 0:
		return nil, &agent.Error{Code: agent.CodeAlreadyExists, Revision: row.Revision}
	case *o.IfRevision < row.Revision:
		return nil, &agent.Error{Code: agent.CodeStaleSessionRevision, Revision: row.Revision}
	}
	row.Agent, row.Spec, row.Metadata, row.Environment, row.Thread = o.Agent, o.Spec, o.Metadata, o.Environment, o.Thread
	row.SchemaVersion, row.Checkpoint, row.QueueMax, row.Result, row.Failure = 3, o.Checkpoint, o.QueueMax, o.Result, o.Failure
	if o.Busy != "" {
		row.Busy = o.Busy
	}
	if o.Conversation != nil {
		row.Conversation = *o.Conversation
	}
	s.sessions[o.Session] = row
	return f.sessionResult(row), nil
}

func (f *fake) sessionResult(s *agent.Session) *agent.SessionResult {
	s.Revision++
	s.UpdatedAt = f.now()
	s.RequestCount, s.SnapshotCount = uint64(len(s.Requests)), uint64(len(s.Snapshots))
	return &agent.SessionResult{Session: s.SessionRow}
}

// fakeTurn returns the fields that ops on turns have in common.
func fakeTurn(op agent.Op) (session, lease string) {
	switch o := op.(type) {
	case *agent.ClaimSession:
		return o.Session, ""
	case *agent.ResumeSession:
		return o.Session, ""
	case *agent.RecoverSession:
		return o.Session, ""
	case *agent.CheckpointSession:
		return o.Session, o.LeaseID
	case *agent.CommitSession:
		return o.Session, o.LeaseID
	case *agent.RenewSession:
		return o.Session, o.LeaseID
	case *agent.CancelSession:
		return o.Session, o.LeaseID
	default:
		return "", ""
	}
}

func (f *fake) applyTurn(s *fakeScope, op agent.Op, epoch uint64) (agent.OpResult, *agent.Error) {
	id, lease := fakeTurn(op)
	row := s.sessions[id]
	if row == nil {
		return nil, agent.Errorf(agent.CodeNotFound, "no session")
	}
	held := row.Lease
	refusal := &agent.Error{State: string(row.Status)}
	if held != nil {
		refusal.Epoch, refusal.Holder, refusal.ExpiresAt = held.Epoch, held.Owner, held.ExpiresAt
	}
	if lease != "" && (held == nil || held.LeaseID != lease) {
		refusal.Code = agent.CodeStaleSessionLease
		return nil, refusal
	}
	switch o := op.(type) {
	case *agent.ClaimSession:
		if held != nil {
			refusal.Code = agent.CodeSessionAlreadyRunning
			return nil, refusal
		}
		if o.Request == nil {
			return nil, &agent.Error{Code: agent.CodeSessionQueueEmpty, State: string(row.Status)}
		}
		r := *o.Request
		r.Owner, r.At = o.Owner, f.now()
		row.Requests, row.RequestID = append(row.Requests, r), r.ID
		return f.lend(row, o.Owner, epoch, o.TTL.Milliseconds(), nil), nil
	case *agent.ResumeSession:
		if len(row.Snapshots) == 0 {
			return nil, &agent.Error{Code: agent.CodeMissingSnapshot, State: string(row.Status)}
		}
		return f.lend(row, o.Owner, epoch, o.TTL.Milliseconds(), &agent.Recovery{Resume: row.Snapshots[0].ID}), nil
	case *agent.RecoverSession:
		return f.lend(row, o.Owner, epoch, o.TTL.Milliseconds(), &agent.Recovery{Restart: row.RequestID}), nil
	case *agent.CheckpointSession:
		row.Snapshots = append(row.Snapshots, o.Snapshot)
		f.ask(s, row, o.Reviews)
	case *agent.CommitSession:
		row.Lease, row.Status, row.Result, row.Failure = nil, o.Status, o.Result, o.Failure
		row.Snapshots = append(row.Snapshots, o.Snapshots...)
		f.ask(s, row, o.Reviews)
	case *agent.CancelSession:
		row.Lease, row.Status, row.Failure = nil, agent.SessionCancelled, o.Reason
	}
	return f.sessionResult(row), nil
}

func (f *fake) lend(row *agent.Session, owner string, epoch uint64, ttl int64, recovery *agent.Recovery) agent.OpResult {
	row.Status = agent.SessionRunning
	row.Lease = &agent.Lease{
		LeaseID: agent.LeaseID(epoch), Owner: owner, RequestID: row.RequestID, Epoch: epoch, AcquiredAt: f.now(), ExpiresAt: f.now() + ttl,
	}
	result := f.sessionResult(row)
	result.Recovery = recovery
	return result
}

func (f *fake) ask(s *fakeScope, row *agent.Session, drafts []agent.ReviewDraft) {
	for _, d := range drafts {
		r := agent.Review{
			ID: d.ID, Session: row.ID, RequestID: row.RequestID, InterruptID: d.InterruptID, Operation: d.Operation, Arguments: d.Arguments,
			Reason: d.Reason, Assignee: d.Assignee, Status: agent.ReviewPending, CreatedAt: f.now(), ExpiresAt: f.now() + d.TTL.Milliseconds(),
		}
		s.reviews[d.ID] = &r
		row.PendingReviews = append(row.PendingReviews, r)
	}
}

// findSession lists all sessions: filters are tested with the real store.
func (f *fake) findSession(s *fakeScope, r agent.Read) (agent.Found, *agent.Error) {
	switch q := r.(type) {
	case *agent.GetSession:
		if found := s.sessions[q.Session]; found != nil {
			return found, nil
		}
	case *agent.ListSessions:
		out := &agent.SessionList{}
		ids, next := page(q.Page, slices.Sorted(maps.Keys(s.sessions)))
		for _, id := range ids {
			out.Items = append(out.Items, s.sessions[id].SessionRow)
		}
		out.Next = next
		return out, nil
	case *agent.GetReview:
		if found := s.reviews[q.Review]; found != nil {
			return found, nil
		}
	case *agent.ListReviews:
		out := &agent.ReviewList{}
		ids, next := page(q.Page, slices.Sorted(maps.Keys(s.reviews)))
		for _, id := range ids {
			out.Items = append(out.Items, *s.reviews[id])
		}
		out.Next = next
		return out, nil
	}
	return nil, agent.Errorf(agent.CodeNotFound, "nothing there")
}
