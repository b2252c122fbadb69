package session

import (
	"dormouse/agent"
	"dormouse/fsm/claim"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Claim begins a turn, queues the request, or refuses it.
func Claim(c *txn.Tx, op *agent.ClaimSession) (agent.OpResult, error) {
	s, err := Load(c, op.Session)
	if err != nil {
		return nil, err
	}
	if err := validOwner(op.Owner, op.TTL); err != nil {
		return nil, err
	}
	if op.Request != nil {
		if err := agent.ValidKey("request.id", op.Request.ID); err != nil {
			return nil, err
		}
	}
	if s.running() {
		queued, err := busySession(c, s, op)
		if err != nil || queued != nil {
			return queued, err
		}
	}
	if want := op.ConversationRevision; want != nil && *want != s.Row.ContinuationRevision {
		e := agent.Errorf(agent.CodeStaleConversationRevision,
			"the request was written for revision %d of the conversation of session %q, which is at %d", *want, s.Id, s.Row.ContinuationRevision)
		e.Revision = s.Row.ContinuationRevision
		return nil, e
	}
	request, queued, err := nextRequest(c, s, op)
	if err != nil {
		return nil, err
	}
	if err := beginTurn(c, s); err != nil {
		return nil, err
	}
	if err := addRequest(c, s, request); err != nil {
		return nil, err
	}
	if err := runSession(c, s, op); err != nil {
		return nil, err
	}
	result, err := Stored(c, s)
	if err == nil {
		result.Queued = queued
	}
	return result, err
}

// runSession makes the session a running one, with a lease, or without one in classic mode.
func runSession(c *txn.Tx, s *Session, op *agent.ClaimSession) error {
	if s.classic() {
		s.Row.Status = string(agent.SessionRunning)
		return nil
	}
	return beginLease(c, s, op.Owner, op.TTL)
}

// busySession handles a claim while a turn runs. It returns a result if the claim waits, a refusal,
// or neither if the claim may take the session.
func busySession(c *txn.Tx, s *Session, op *agent.ClaimSession) (agent.OpResult, error) {
	switch policy := agent.BusyPolicy(s.Row.Settings.Busy); {
	case s.classic(), policy == agent.BusyReject:
	case policy == agent.BusyEnqueue && op.Request != nil:
		if op.Request.ID == s.Row.Request {
			break // it is already running
		}
		return queueRequest(c, s, op)
	case policy == agent.BusyInterrupt && op.Request != nil:
		return nil, interruptTurn(c, s, agent.RequestInterrupted)
	case policy == agent.BusyRollback && op.Request != nil:
		if err := rollBack(c, s); err != nil {
			return nil, err
		}
		return nil, interruptTurn(c, s, agent.RequestRolledBack)
	}
	return nil, leaseRefusal(c, s, agent.CodeSessionAlreadyRunning, "runs already, for request %q", s.Row.Request)
}

// queueRequest answers a claim that waits. A claim that is already queued changes nothing.
func queueRequest(c *txn.Tx, s *Session, op *agent.ClaimSession) (agent.OpResult, error) {
	place, added, err := enqueue(c, s, op)
	if err != nil {
		return nil, err
	}
	result := &agent.SessionResult{}
	if added {
		result, err = Stored(c, s)
	} else {
		result.Session, err = sessionsIn(c).row(s.Id, s.Row)
	}
	if err != nil {
		return nil, err
	}
	result.Queued = place
	result.Session.Lease = nil // it belongs to the running turn
	return result, nil
}

// interruptTurn takes the session from the running turn.
func interruptTurn(c *txn.Tx, s *Session, outcome agent.RequestOutcome) error {
	if err := closeRequest(c, s, outcome); err != nil {
		return err
	}
	return endTurn(c, s)
}

// endTurn ends the lease of the running turn, if there is one, and removes the data for a rollback.
func endTurn(c *txn.Tx, s *Session) error {
	if turn := s.Row.Turn; turn != nil {
		s.Row.Turn = nil
		for _, k := range turn.Snapshots {
			if !keeps(s.Row.Snapshots, k.Ordinal) {
				dropSnapshot(c, s, k)
			}
		}
	}
	return endLease(c, s)
}

// Resume runs resume_session.
func Resume(c *txn.Tx, op *agent.ResumeSession) (agent.OpResult, error) {
	s, err := Load(c, op.Session)
	if err != nil {
		return nil, err
	}
	status := s.status()
	if !s.classic() && status != agent.SessionHibernated && status != agent.SessionWaiting {
		return nil, leaseRefusal(c, s, agent.CodeSessionNotResumable, "is %s: one that hibernates or waits is resumed", status)
	}
	newest := newestSnapshot(s.Row)
	if newest == nil {
		return nil, missingSnapshot(s, "has no snapshot to be resumed from")
	}
	recovery := &agent.Recovery{Resume: newest.Id}
	if s.classic() {
		row, err := sessionsIn(c).row(s.Id, s.Row)
		return &agent.SessionResult{Session: row, Recovery: recovery}, err
	}
	if err := beginTurn(c, s); err != nil {
		return nil, err
	}
	s.Row.Request, s.Row.RequestOrdinal = newest.Request, newest.RequestOrdinal
	if err := beginLease(c, s, op.Owner, op.TTL); err != nil {
		return nil, err
	}
	return recoveredResult(c, s, recovery)
}

func missingSnapshot(s *Session, why string) error {
	e := agent.Errorf(agent.CodeMissingSnapshot, "session %q %s", s.Id, why)
	e.State = s.Row.Status
	return e
}

func recoveredResult(c *txn.Tx, s *Session, recovery *agent.Recovery) (agent.OpResult, error) {
	result, err := Stored(c, s)
	if err == nil {
		result.Recovery = recovery
	}
	return result, err
}

// Recover takes over a turn whose lease has expired. The turn continues from its newest snapshot,
// or begins again.
func Recover(c *txn.Tx, op *agent.RecoverSession) (agent.OpResult, error) {
	s, err := Load(c, op.Session)
	if err != nil {
		return nil, err
	}
	if !s.running() || s.Row.Lease == nil {
		return nil, leaseRefusal(c, s, agent.CodeSessionNotRecoverable, "is %s, under no lease that could have lapsed", s.Row.Status)
	}
	if row, err := claim.LoadStanding(c.Entry, c.Scope, agent.SessionClaim(s.Id)); err != nil {
		return nil, err
	} else if row != nil && row.Epoch == s.Row.Lease.Epoch {
		return nil, leaseRefusal(c, s, agent.CodeSessionLeaseActive, "is leased to %q, and not lapsed", row.Holder)
	}
	recovery := &agent.Recovery{Restart: s.Row.Request}
	if s.resumable() {
		recovery = &agent.Recovery{Resume: newestSnapshot(s.Row).Id}
	}
	if err := beginLease(c, s, op.Owner, op.TTL); err != nil {
		return nil, err
	}
	return recoveredResult(c, s, recovery)
}

// Checkpoint runs checkpoint_session.
func Checkpoint(c *txn.Tx, op *agent.CheckpointSession) (agent.OpResult, error) {
	s, err := Load(c, op.Session)
	if err != nil {
		return nil, err
	}
	var lease *logpb.ClaimRow
	if !s.classic() {
		if lease, err = underLease(c, s, op.LeaseID, op.Owner); err != nil {
			return nil, err
		}
	}
	given := &op.Snapshot
	if !ours(given.Agent, s.Row.Agent) || !s.classic() && !ours(given.RequestID, s.Row.Request) {
		return nil, agent.Errorf(agent.CodeCheckpointMismatch,
			"snapshot %q is of agent %q and request %q, the turn of session %q of %q and %q",
			given.ID, given.Agent, given.RequestID, s.Id, s.Row.Agent, s.Row.Request)
	}
	if s.classic() {
		if err := putSnapshot(c, s, op); err != nil {
			return nil, err
		}
		return Stored(c, s)
	}
	if err := addSnapshot(c, s, given); err != nil {
		return nil, err
	}
	if err := askReviews(c, s, op.Reviews); err != nil {
		return nil, err
	}
	if err := armLease(c, s, lease, op.TTL); err != nil {
		return nil, err
	}
	return Stored(c, s)
}

// ours reports whether a caller names the right value; "" always matches.
func ours(given, own string) bool { return given == "" || given == own }

// putSnapshot is put_snapshot in classic mode: the session hibernates or waits, and the pending
// reviews are those of the snapshot.
func putSnapshot(c *txn.Tx, s *Session, op *agent.CheckpointSession) error {
	if err := addSnapshot(c, s, &op.Snapshot); err != nil {
		return err
	}
	var asked []agent.ReviewDraft
	if c.Level >= txn.AskedAgainLevel {
		asked = op.Reviews
	}
	if err := withdrawReviews(c, s, 0, asked...); err != nil {
		return err
	}
	if err := askReviews(c, s, op.Reviews); err != nil {
		return err
	}
	s.Row.Status = string(agent.SessionHibernated)
	if op.Snapshot.Cursor.Phase == agent.PhaseReview || s.Row.PendingReviews > 0 {
		s.Row.Status = string(agent.SessionWaiting)
	}
	return nil
}
