package fsm

import (
	"dormouse/agent"
	logpb "dormouse/proto/log"
)

func (c *commit) sessionOp(op agent.Op) (agent.OpResult, error) {
	switch op := op.(type) {
	case *agent.PutSession:
		return c.putSession(op)
	case *agent.ClaimSession:
		return c.claimSession(op)
	case *agent.ResumeSession:
		return c.resumeSession(op)
	case *agent.RecoverSession:
		return c.recoverSession(op)
	case *agent.CheckpointSession:
		return c.checkpointSession(op)
	case *agent.CommitSession:
		return c.commitSession(op)
	case *agent.RenewSession:
		return c.renewSession(op)
	case *agent.CancelSession:
		return c.cancelSession(op)
	case *agent.ForkSession:
		return c.forkSession(op)
	case *agent.DeleteSession:
		return c.deleteSession(op)
	case *agent.DecideReview:
		return c.decideReview(op)
	case *agent.ForkAgent:
		return c.forkAgent(op)
	case *agent.EraseAgent:
		return c.eraseAgent(op)
	case *agent.SetTTL:
		return c.setTTL(op)
	default:
		return c.conversationOp(op)
	}
}

// claimSession begins a turn, or lets the request wait, or refuses it.
func (c *commit) claimSession(op *agent.ClaimSession) (agent.OpResult, error) {
	s, err := c.theSession(op.Session)
	if err != nil {
		return nil, err
	}
	if err := validOwner(op.Owner, op.TTL); err != nil {
		return nil, err
	}
	if op.Request != nil {
		if err := agent.ValidID("request.id", op.Request.ID); err != nil {
			return nil, err
		}
	}
	if s.running() {
		queued, err := c.busy(s, op)
		if err != nil || queued != nil {
			return queued, err
		}
	}
	if want := op.ConversationRevision; want != nil && *want != s.row.ContinuationRevision {
		e := agent.Errorf(agent.CodeStaleConversationRevision,
			"the request was written for revision %d of the conversation of session %q, which is at %d", *want, s.id, s.row.ContinuationRevision)
		e.Revision = s.row.ContinuationRevision
		return nil, e
	}
	request, queued, err := c.nextRequest(s, op)
	if err != nil {
		return nil, err
	}
	if err := c.beginTurn(s); err != nil {
		return nil, err
	}
	if err := c.addRequest(s, request); err != nil {
		return nil, err
	}
	if err := c.runSession(s, op); err != nil {
		return nil, err
	}
	result, err := c.stored(s)
	if err == nil {
		result.Queued = queued
	}
	return result, err
}

// runSession makes the session a running one: under a lease, or without in classic
// mode.
func (c *commit) runSession(s *session, op *agent.ClaimSession) error {
	if s.classic() {
		s.row.Status = string(agent.SessionRunning)
		return nil
	}
	return c.beginLease(s, op.Owner, op.TTL)
}

// busy is what becomes of a claim while a turn runs: a result where it waits,
// neither where it may have the session, a refusal otherwise.
func (c *commit) busy(s *session, op *agent.ClaimSession) (agent.OpResult, error) {
	switch policy := agent.BusyPolicy(s.row.Busy); {
	case s.classic(), policy == agent.BusyReject:
	case policy == agent.BusyEnqueue && op.Request != nil:
		if op.Request.ID == s.row.Request {
			break // it runs already
		}
		return c.queue(s, op)
	case policy == agent.BusyInterrupt && op.Request != nil:
		return nil, c.interrupt(s, agent.RequestInterrupted)
	case policy == agent.BusyRollback && op.Request != nil:
		if err := c.rollBack(s); err != nil {
			return nil, err
		}
		return nil, c.interrupt(s, agent.RequestRolledBack)
	}
	return nil, c.leaseRefusal(s, agent.CodeSessionAlreadyRunning, "runs already, for request %q", s.row.Request)
}

// queue answers a claim that waits. One that waits already changes nothing.
func (c *commit) queue(s *session, op *agent.ClaimSession) (agent.OpResult, error) {
	place, added, err := c.enqueue(s, op)
	if err != nil {
		return nil, err
	}
	result := &agent.SessionResult{}
	if added {
		result, err = c.stored(s)
	} else {
		result.Session, err = c.sessions().row(s.id, s.row)
	}
	if err != nil {
		return nil, err
	}
	result.Queued = place
	result.Session.Lease = nil // it is the turn's that runs
	return result, nil
}

// interrupt takes the session from the turn that runs.
func (c *commit) interrupt(s *session, outcome agent.RequestOutcome) error {
	if err := c.closeRequest(s, outcome); err != nil {
		return err
	}
	return c.endTurn(s)
}

// endTurn gives up the lease of the turn that runs, if there is one, and what
// a rollback of it would need.
func (c *commit) endTurn(s *session) error {
	if turn := s.row.Turn; turn != nil {
		s.row.Turn = nil
		for _, k := range turn.Snapshots {
			if !keeps(s.row.Snapshots, k.Ordinal) {
				c.dropSnapshot(s, k)
			}
		}
	}
	return c.endLease(s)
}

func (c *commit) resumeSession(op *agent.ResumeSession) (agent.OpResult, error) {
	s, err := c.theSession(op.Session)
	if err != nil {
		return nil, err
	}
	status := s.status()
	if !s.classic() && status != agent.SessionHibernated && status != agent.SessionWaiting {
		return nil, c.leaseRefusal(s, agent.CodeSessionNotResumable, "is %s: one that hibernates or waits is resumed", status)
	}
	newest := newestSnapshot(s.row)
	if newest == nil {
		return nil, missingSnapshot(s, "has no snapshot to be resumed from")
	}
	recovery := &agent.Recovery{Resume: newest.Id}
	if s.classic() {
		row, err := c.sessions().row(s.id, s.row)
		return &agent.SessionResult{Session: row, Recovery: recovery}, err
	}
	if err := c.beginTurn(s); err != nil {
		return nil, err
	}
	s.row.Request, s.row.RequestOrdinal = newest.Request, newest.RequestOrdinal
	if err := c.beginLease(s, op.Owner, op.TTL); err != nil {
		return nil, err
	}
	return c.recovered(s, recovery)
}

func missingSnapshot(s *session, why string) error {
	e := agent.Errorf(agent.CodeMissingSnapshot, "session %q %s", s.id, why)
	e.State = s.row.Status
	return e
}

func (c *commit) recovered(s *session, recovery *agent.Recovery) (agent.OpResult, error) {
	result, err := c.stored(s)
	if err == nil {
		result.Recovery = recovery
	}
	return result, err
}

// recoverSession takes over a turn whose lease has lapsed. It goes on from the
// newest snapshot that it made, or begins anew.
func (c *commit) recoverSession(op *agent.RecoverSession) (agent.OpResult, error) {
	s, err := c.theSession(op.Session)
	if err != nil {
		return nil, err
	}
	if !s.running() || s.row.Lease == nil {
		return nil, c.leaseRefusal(s, agent.CodeSessionNotRecoverable, "is %s, under no lease that could have lapsed", s.row.Status)
	}
	if row, err := c.claim(c.scope, agent.SessionClaim(s.id)); err != nil {
		return nil, err
	} else if row != nil && row.Epoch == s.row.Lease.Epoch {
		return nil, c.leaseRefusal(s, agent.CodeSessionLeaseActive, "is leased to %q, and not lapsed", row.Holder)
	}
	recovery := &agent.Recovery{Restart: s.row.Request}
	if s.resumable() {
		recovery = &agent.Recovery{Resume: newestSnapshot(s.row).Id}
	}
	if err := c.beginLease(s, op.Owner, op.TTL); err != nil {
		return nil, err
	}
	return c.recovered(s, recovery)
}

func (c *commit) checkpointSession(op *agent.CheckpointSession) (agent.OpResult, error) {
	s, err := c.theSession(op.Session)
	if err != nil {
		return nil, err
	}
	var lease *logpb.ClaimRow
	if !s.classic() {
		if lease, err = c.underLease(s, op.LeaseID, op.Owner); err != nil {
			return nil, err
		}
	}
	given := &op.Snapshot
	if !ours(given.Agent, s.row.Agent) || !s.classic() && !ours(given.RequestID, s.row.Request) {
		return nil, agent.Errorf(agent.CodeCheckpointMismatch,
			"snapshot %q is of agent %q and request %q, the turn of session %q of %q and %q",
			given.ID, given.Agent, given.RequestID, s.id, s.row.Agent, s.row.Request)
	}
	if s.classic() {
		if err := c.putSnapshot(s, op); err != nil {
			return nil, err
		}
		return c.stored(s)
	}
	if err := c.addSnapshot(s, given); err != nil {
		return nil, err
	}
	if err := c.askReviews(s, op.Reviews); err != nil {
		return nil, err
	}
	if err := c.armLease(s, lease, op.TTL); err != nil {
		return nil, err
	}
	return c.stored(s)
}

// ours tells whether what a caller names is what it must be; "" stands for it.
func ours(given, own string) bool { return given == "" || given == own }

// putSnapshot is the guide's put_snapshot: the session hibernates or waits, and
// what is pending is what the snapshot asks for.
func (c *commit) putSnapshot(s *session, op *agent.CheckpointSession) error {
	if err := c.addSnapshot(s, &op.Snapshot); err != nil {
		return err
	}
	if err := c.withdrawReviews(s, 0); err != nil {
		return err
	}
	if err := c.askReviews(s, op.Reviews); err != nil {
		return err
	}
	s.row.Status = string(agent.SessionHibernated)
	if op.Snapshot.Cursor.Phase == agent.PhaseReview || s.row.PendingReviews > 0 {
		s.row.Status = string(agent.SessionWaiting)
	}
	return nil
}
