package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// commitSession ends a turn: with a result, a failure, or where it is to be
// taken up again.
func commitSession(c *txn.Tx, op *agent.CommitSession) (agent.OpResult, error) {
	s, err := theSession(c, op.Session)
	if err != nil {
		return nil, err
	}
	if !s.classic() {
		if _, err := underLease(c, s, op.LeaseID, op.Owner); err != nil {
			return nil, err
		}
	}
	if err := commitMatches(s, op); err != nil {
		return nil, err
	}
	for i := range op.Snapshots {
		if err := addSnapshot(c, s, &op.Snapshots[i]); err != nil {
			return nil, err
		}
	}
	if pauses(op.Status) && !s.resumable() {
		return nil, missingSnapshot(s, "cannot be paused without a snapshot to resume it from")
	}
	if err := commitBody(c, s, op); err != nil {
		return nil, err
	}
	if err := askReviews(c, s, op.Reviews); err != nil {
		return nil, err
	}
	if outcome := outcomeOf(op.Status); outcome != agent.RequestOpen {
		if err := closeRequest(c, s, outcome); err != nil {
			return nil, err
		}
	}
	if err := endTurn(c, s); err != nil {
		return nil, err
	}
	if err := settleReview(c, s, op.Status); err != nil {
		return nil, err
	}
	return storedResult(c, s)
}

// commitMatches holds what a commit says to the session and its turn.
func commitMatches(s *openedSession, op *agent.CommitSession) error {
	switch op.Status {
	case agent.SessionHibernated, agent.SessionWaiting, agent.SessionFinished, agent.SessionFailed, agent.SessionCancelled:
	default:
		return agent.Invalid("status", "a turn does not end as %q", op.Status)
	}
	match := ours(op.Agent, s.row.Agent) && (s.classic() || ours(op.RequestID, s.row.Request))
	for i := range op.Snapshots {
		given := &op.Snapshots[i]
		match = match && ours(given.Agent, s.row.Agent) && (s.classic() || ours(given.RequestID, s.row.Request))
	}
	if match {
		return nil
	}
	return agent.Errorf(agent.CodeCommitMismatch, "the commit is of agent %q and request %q, or its snapshots are of others; the turn of session %q is of %q and %q",
		op.Agent, op.RequestID, s.id, s.row.Agent, s.row.Request)
}

// resumable tells whether the turn that runs could be taken up again: whether
// it has made a snapshot.
func (s *openedSession) resumable() bool {
	k := newestSnapshot(s.row)
	return k != nil && (s.classic() || k.RequestOrdinal == s.row.RequestOrdinal)
}

func pauses(status agent.SessionStatus) bool {
	return status == agent.SessionHibernated || status == agent.SessionWaiting
}

func outcomeOf(status agent.SessionStatus) agent.RequestOutcome {
	switch status {
	case agent.SessionFinished:
		return agent.RequestFinished
	case agent.SessionFailed:
		return agent.RequestFailed
	case agent.SessionCancelled:
		return agent.RequestCancelled
	case agent.SessionNew, agent.SessionRunning, agent.SessionHibernated, agent.SessionWaiting:
	}
	return agent.RequestOpen
}

// commitBody writes what a commit replaces of the session's body, if it
// replaces any.
func commitBody(c *txn.Tx, s *openedSession, op *agent.CommitSession) error {
	failed := op.Status == agent.SessionFailed || op.Status == agent.SessionCancelled
	if op.Result == nil && op.Environment == nil && op.Conversation == nil && !failed {
		return nil
	}
	body, err := sessionBody(c.Rows, c.Scope, s.id)
	if err != nil {
		return err
	}
	if body.Conversation, err = nextConversation(s, op.Conversation, body.Conversation, op.Status); err != nil {
		return err
	}
	if op.Result != nil {
		body.Result = op.Result
	}
	if op.Environment != nil {
		body.Environment = op.Environment
	}
	if failed {
		body.Failure = op.Failure
	}
	return storeSessionBody(c, s, body)
}

// settleReview gives a session that does not run its status. It waits exactly where
// reviews are pending; with any other status those are withdrawn, but by a
// failure in classic mode.
func settleReview(c *txn.Tx, s *openedSession, status agent.SessionStatus) error {
	if pauses(status) {
		status = agent.SessionHibernated
		if s.row.PendingReviews > 0 {
			status = agent.SessionWaiting
		}
		s.row.Status = string(status)
		return nil
	}
	s.row.Status = string(status)
	if s.classic() && status == agent.SessionFailed {
		return nil
	}
	return withdrawReviews(c, s, 0)
}

func cancelSession(c *txn.Tx, op *agent.CancelSession) (agent.OpResult, error) {
	s, err := theSession(c, op.Session)
	if err != nil {
		return nil, err
	}
	if op.LeaseID != "" {
		if _, err := underLease(c, s, op.LeaseID, op.Owner); err != nil {
			return nil, err
		}
	}
	if want := op.IfRevision; want != nil && *want != s.row.Revision {
		return nil, staleRevision(s.id, *want, s.row.Revision)
	}
	if s.running() || pauses(s.status()) {
		if err := closeRequest(c, s, agent.RequestCancelled); err != nil {
			return nil, err
		}
	}
	if err := endTurn(c, s); err != nil {
		return nil, err
	}
	if err := clearQueue(c, s); err != nil {
		return nil, err
	}
	body, err := sessionBody(c.Rows, c.Scope, s.id)
	if err != nil {
		return nil, err
	}
	body.Failure = op.Reason
	if err := storeSessionBody(c, s, body); err != nil {
		return nil, err
	}
	if err := settleReview(c, s, agent.SessionCancelled); err != nil {
		return nil, err
	}
	return storedResult(c, s)
}

// forkSession makes another session of one that does not run.
func forkSession(c *txn.Tx, op *agent.ForkSession) (agent.OpResult, error) {
	fork, err := newFork(c, op)
	if err != nil {
		return nil, err
	}
	return storedResult(c, fork)
}

// newFork is a session's fork, which is to be stored.
func newFork(c *txn.Tx, op *agent.ForkSession) (*openedSession, error) {
	source, err := theSession(c, op.Session)
	if err != nil {
		return nil, err
	}
	if err := txn.SameIncarnation(op.Session, op.IfIncarnation, source.row.Incarnation); err != nil {
		return nil, err
	}
	if want := op.IfRevision; want != nil && *want != source.row.Revision {
		return nil, staleRevision(source.id, *want, source.row.Revision)
	}
	if source.running() {
		return nil, leaseRefusal(c, source, agent.CodeSessionAlreadyRunning, "runs: fork it once its turn has ended")
	}
	old, err := openSession(c, op.NewSession)
	if err != nil {
		return nil, err
	}
	if old != nil {
		e := agent.Errorf(agent.CodeAlreadyExists, "session %q exists already", op.NewSession)
		e.Revision = old.row.Revision
		return nil, e
	}
	if err := c.CheckWritable(kv.KindSessionTombstone, op.NewSession, 0, 0); err != nil {
		return nil, err
	}
	fork := newSession(c, op.NewSession)
	return fork, copySession(c, fork, source, op.Snapshot)
}

// copySession fills a fork: its source's body, requests, and snapshots up to
// the one it is forked at, which it can be resumed from. Thread and checkpoint
// stay the source's.
func copySession(c *txn.Tx, fork, source *openedSession, snapshot string) error {
	from, to := source.row, fork.row
	to.Mode, to.Busy, to.Agent, to.QueueMax, to.SchemaVersion = from.Mode, from.Busy, from.Agent, from.QueueMax, from.SchemaVersion
	to.Request, to.RequestOrdinal, to.RequestsEnd, to.SnapshotsEnd = from.Request, from.RequestOrdinal, from.RequestsEnd, from.SnapshotsEnd
	snapshots := from.Snapshots
	if snapshot != "" {
		for len(snapshots) > 0 && snapshots[len(snapshots)-1].Id != snapshot {
			snapshots = snapshots[:len(snapshots)-1]
		}
		if len(snapshots) == 0 {
			return missingSnapshot(source, "has no snapshot "+snapshot)
		}
	}
	body, err := sessionBody(c.Rows, c.Scope, source.id)
	if err != nil {
		return err
	}
	if err := storeSessionBody(c, fork, body); err != nil {
		return err
	}
	first := from.RequestsEnd - uint64(len(from.RequestSizes))
	for i, size := range from.RequestSizes {
		if err := copyRow(c, kv.KindSessionRequest, source, fork, first+uint64(i), size); err != nil {
			return err
		}
	}
	for _, k := range snapshots {
		if err := copyRow(c, kv.KindSessionSnapshot, source, fork, k.Ordinal, k.Size); err != nil {
			return err
		}
	}
	to.RequestSizes, to.Snapshots = from.RequestSizes, snapshots
	to.Lineage = &logpb.SessionLineage{Session: source.id, Incarnation: from.Incarnation, Revision: from.Revision}
	to.Status = from.Status
	newest := newestSnapshot(to)
	if newest == nil {
		return nil
	}
	to.Lineage.Snapshot = newest.Id
	if snapshot != "" || pauses(source.status()) {
		to.Status = string(agent.SessionHibernated)
		to.Request, to.RequestOrdinal = newest.Request, newest.RequestOrdinal
	}
	return nil
}

func copyRow(c *txn.Tx, kind string, source, fork *openedSession, ordinal, size uint64) error {
	raw, err := c.Rows.Get(kv.OrdinalKey(kind, c.Scope, source.id, ordinal))
	if err != nil {
		return err
	}
	c.Rows.Set(kv.OrdinalKey(kind, c.Scope, fork.id, ordinal), raw)
	c.AddUsage(0, int64(size))
	return nil
}
