package memstore

import (
	"bytes"
	"slices"

	"dormouse/agent"
)

// leased validates the lease that a caller names.
func (m SessionModel) leased(h SessionHost, s ModelSession, lease, owner string) *agent.Error {
	switch {
	case s.Lease == nil || s.Lease.LeaseID != lease || s.Lease.Owner != owner:
		return refuse(agent.CodeStaleSessionLease, s)
	case h.Ends(agent.SessionClaim(s.ID)) == 0:
		return refuse(agent.CodeSessionLeaseExpired, s)
	}
	return nil
}

// begin begins a turn, under a lease except in classic mode.
func (m SessionModel) begin(h SessionHost, s *ModelSession, owner string, o *agent.ResumeSession) {
	s.Status = agent.SessionRunning
	if s.Mode == agent.SessionModeClassic {
		return
	}
	s.TTL = o.TTL
	epoch := h.Hold(agent.SessionClaim(s.ID), owner, o.TTL)
	s.Lease = &agent.Lease{LeaseID: agent.LeaseID(epoch), Owner: owner, Epoch: epoch, AcquiredAt: h.Now()}
}

func (m SessionModel) note(h SessionHost, s *ModelSession) {
	if s.begun = nil; s.Busy == agent.BusyRollback {
		s.begun = &modelTurn{
			snapshots: slices.Clone(s.Snapshots), turns: slices.Clone(s.turns), asked: len(s.asked), mark: h.Mark(s.Session),
		}
	}
}

func (m SessionModel) end(h SessionHost, s *ModelSession) {
	if s.begun = nil; s.Lease != nil {
		h.Release(agent.SessionClaim(s.ID))
		s.Lease = nil
	}
}

func (m SessionModel) claim(h SessionHost, s ModelSession, o *agent.ClaimSession) (agent.OpResult, *agent.Error) {
	if s.Status == agent.SessionRunning {
		if o.Request == nil || s.Busy == agent.BusyReject {
			return nil, refuse(agent.CodeSessionAlreadyRunning, s)
		}
		if s.Busy == agent.BusyEnqueue {
			if o.Request.ID == s.RequestID {
				return nil, refuse(agent.CodeSessionAlreadyRunning, s)
			}
			return m.queued(h, s, o)
		}
		if e := m.interrupt(h, &s); e != nil {
			return nil, e
		}
	}
	if want := o.ConversationRevision; want != nil && *want != s.Conversation.ContinuationRevision {
		e := refuse(agent.CodeStaleConversationRevision, s)
		e.Revision = s.Conversation.ContinuationRevision
		return nil, e
	}
	place, next := uint64(0), o.Request
	if len(s.Queue) > 0 {
		head := s.Queue[0]
		s.Queue, next = s.Queue[1:], &head
		if o.Request != nil && o.Request.ID != head.ID {
			var e *agent.Error
			if place, _, e = wait(h, &s, o); e != nil {
				return nil, e
			}
		} else if o.Request != nil && !sameContent(head, o.Request) {
			return nil, refuse(agent.CodeIdempotencyMismatch, s)
		}
	}
	if next == nil {
		return nil, refuse(agent.CodeSessionQueueEmpty, s)
	}
	m.note(h, &s)
	m.ask(h, &s, *next, o.Owner)
	m.begin(h, &s, o.Owner, &agent.ResumeSession{TTL: o.TTL})
	result := m.store(h, s)
	result.Queued = place
	return result, nil
}

// sameContent reports whether a queued request has the content of another with its id.
func sameContent(queued agent.SessionRequest, other *agent.SessionRequest) bool {
	return bytes.Equal(queued.Input, other.Input) && bytes.Equal(queued.Metadata, other.Metadata)
}

// wait returns the request's place in the queue, and reports whether it was added now.
func wait(h SessionHost, s *ModelSession, o *agent.ClaimSession) (place uint64, added bool, err *agent.Error) {
	for i, r := range s.Queue {
		if r.ID == o.Request.ID {
			if !sameContent(r, o.Request) {
				return 0, false, refuse(agent.CodeIdempotencyMismatch, *s)
			}
			return uint64(i + 1), false, nil
		}
	}
	if uint64(len(s.Queue)) >= s.QueueMax {
		return 0, false, overloaded("queue_max", s.QueueMax)
	}
	r := *o.Request
	r.Owner, r.At = o.Owner, h.Now()
	s.Queue = append(slices.Clone(s.Queue), r)
	return uint64(len(s.Queue)), true, nil
}

func (m SessionModel) queued(h SessionHost, s ModelSession, o *agent.ClaimSession) (agent.OpResult, *agent.Error) {
	place, added, e := wait(h, &s, o)
	if e != nil {
		return nil, e
	}
	result := &agent.SessionResult{Session: m.row(h, s)}
	if added {
		result = m.store(h, s)
	}
	result.Queued = place
	result.Session.Lease = nil
	return result, nil
}

func (m SessionModel) interrupt(h SessionHost, s *ModelSession) *agent.Error {
	outcome := agent.RequestInterrupted
	if turn := s.begun; turn != nil {
		outcome = agent.RequestRolledBack
		s.Snapshots, s.turns = turn.snapshots, turn.turns
		m.withdraw(h, *s, turn.asked, nil)
		disowned, e := h.PutBack(s.Session, turn.mark)
		if e != nil {
			return e
		}
		if disowned != nil {
			h.Note(s.Thread, *disowned)
		}
	}
	s.answer(outcome)
	m.end(h, s)
	return nil
}

func (m SessionModel) resume(h SessionHost, s ModelSession, o *agent.ResumeSession) (agent.OpResult, *agent.Error) {
	classic := s.Mode == agent.SessionModeClassic
	if !classic && !paused(s.Status) {
		return nil, refuse(agent.CodeSessionNotResumable, s)
	}
	last := len(s.Snapshots) - 1
	if last < 0 {
		return nil, refuse(agent.CodeMissingSnapshot, s)
	}
	recovery := &agent.Recovery{Resume: s.Snapshots[last].ID}
	if classic {
		return &agent.SessionResult{Session: m.row(h, s), Recovery: recovery}, nil
	}
	m.note(h, &s)
	s.RequestID, s.request = s.Snapshots[last].RequestID, s.turns[last]
	m.begin(h, &s, o.Owner, o)
	result := m.store(h, s)
	result.Recovery = recovery
	return result, nil
}

// resumable reports whether the turn has made a snapshot.
func (s ModelSession) resumable() bool {
	last := len(s.Snapshots) - 1
	return last >= 0 && (s.Mode == agent.SessionModeClassic || s.turns[last] == s.request)
}

func (m SessionModel) recover(h SessionHost, s ModelSession, o *agent.RecoverSession) (agent.OpResult, *agent.Error) {
	switch {
	case s.Status != agent.SessionRunning || s.Lease == nil:
		return nil, refuse(agent.CodeSessionNotRecoverable, s)
	case h.Ends(agent.SessionClaim(s.ID)) != 0:
		return nil, refuse(agent.CodeSessionLeaseActive, s)
	}
	recovery := &agent.Recovery{Restart: s.RequestID}
	if s.resumable() {
		recovery = &agent.Recovery{Resume: s.Snapshots[len(s.Snapshots)-1].ID}
	}
	m.begin(h, &s, o.Owner, &agent.ResumeSession{TTL: o.TTL})
	result := m.store(h, s)
	result.Recovery = recovery
	return result, nil
}

func (m SessionModel) checkpoint(h SessionHost, s ModelSession, o *agent.CheckpointSession) (agent.OpResult, *agent.Error) {
	classic := s.Mode == agent.SessionModeClassic
	if !classic {
		if e := m.leased(h, s, o.LeaseID, o.Owner); e != nil {
			return nil, e
		}
	}
	given := o.Snapshot
	if orElse(given.Agent, s.Agent) != s.Agent || !classic && orElse(given.RequestID, s.RequestID) != s.RequestID {
		return nil, refuse(agent.CodeCheckpointMismatch, s)
	}
	s.snapshot(h, given)
	switch {
	case classic && m.AsksOnce:
		m.withdraw(h, s, 0, nil)
	case classic:
		m.withdraw(h, s, 0, o.Reviews)
	}
	if e := m.askAll(h, &s, o.Reviews); e != nil {
		return nil, e
	}
	if classic {
		m.settle(h, &s, agent.SessionHibernated)
		if given.Cursor.Phase == agent.PhaseReview {
			s.Status = agent.SessionWaiting
		}
		return m.store(h, s), nil
	}
	s.TTL = orElse(o.TTL, s.TTL)
	h.Arm(agent.SessionClaim(s.ID), s.TTL)
	return m.store(h, s), nil
}

func (m SessionModel) commit(h SessionHost, s ModelSession, o *agent.CommitSession) (agent.OpResult, *agent.Error) {
	classic := s.Mode == agent.SessionModeClassic
	if !classic {
		if e := m.leased(h, s, o.LeaseID, o.Owner); e != nil {
			return nil, e
		}
	}
	match := orElse(o.Agent, s.Agent) == s.Agent && (classic || orElse(o.RequestID, s.RequestID) == s.RequestID)
	for _, given := range o.Snapshots {
		match = match && orElse(given.Agent, s.Agent) == s.Agent && (classic || orElse(given.RequestID, s.RequestID) == s.RequestID)
	}
	if !match {
		return nil, refuse(agent.CodeCommitMismatch, s)
	}
	for _, given := range o.Snapshots {
		s.snapshot(h, given)
	}
	if paused(o.Status) && !s.resumable() {
		return nil, refuse(agent.CodeMissingSnapshot, s)
	}
	if e := m.converse(&s, o.Conversation, o.Status, true); e != nil {
		return nil, e
	}
	if o.Result != nil {
		s.Result = o.Result
	}
	if o.Environment != nil {
		s.Environment = o.Environment
	}
	if o.Status == agent.SessionFailed || o.Status == agent.SessionCancelled {
		s.failure = o.Failure
	}
	if e := m.askAll(h, &s, o.Reviews); e != nil {
		return nil, e
	}
	if !paused(o.Status) {
		s.answer(agent.RequestOutcome(o.Status)) // outcomes and statuses have the same names
	}
	m.end(h, &s)
	m.settle(h, &s, o.Status)
	return m.store(h, s), nil
}

func (m SessionModel) renew(h SessionHost, s ModelSession, o *agent.RenewSession) (agent.OpResult, *agent.Error) {
	if e := m.leased(h, s, o.LeaseID, o.Owner); e != nil {
		return nil, e
	}
	s.TTL = orElse(o.TTL, s.TTL)
	h.Arm(agent.SessionClaim(s.ID), s.TTL)
	return m.store(h, s), nil
}

func (m SessionModel) cancel(h SessionHost, s ModelSession, o *agent.CancelSession) (agent.OpResult, *agent.Error) {
	if o.LeaseID != "" {
		if e := m.leased(h, s, o.LeaseID, o.Owner); e != nil {
			return nil, e
		}
	}
	if o.IfRevision != nil && *o.IfRevision != s.Revision {
		return nil, refuse(agent.CodeStaleSessionRevision, s)
	}
	if s.Status == agent.SessionRunning || paused(s.Status) {
		s.answer(agent.RequestCancelled)
	}
	m.end(h, &s)
	s.Queue, s.failure = nil, o.Reason
	m.settle(h, &s, agent.SessionCancelled)
	return m.store(h, s), nil
}
