package session

import (
	"dormouse/agent"
	"dormouse/api/ops"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Commit ends a turn: with a result, with a failure, or such that it can be resumed.
func Commit(c *txn.Tx, op *agent.CommitSession) (agent.OpResult, error) {
	s, err := Load(c, op.Session)
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
	return Stored(c, s)
}

// commitMatches checks a commit against the session and its turn.
func commitMatches(s *Session, op *agent.CommitSession) error {
	switch op.Status {
	case agent.SessionHibernated, agent.SessionWaiting, agent.SessionFinished, agent.SessionFailed, agent.SessionCancelled:
	default:
		return agent.Invalid("status", "a turn cannot end with status %q", op.Status)
	}
	match := ours(op.Agent, s.Row.Agent) && (s.classic() || ours(op.RequestID, s.Row.Request))
	for i := range op.Snapshots {
		given := &op.Snapshots[i]
		match = match && ours(given.Agent, s.Row.Agent) && (s.classic() || ours(given.RequestID, s.Row.Request))
	}
	if match {
		return nil
	}
	return agent.Errorf(agent.CodeCommitMismatch, "the commit is of agent %q and request %q, or its snapshots are of others; the turn of session %q is of %q and %q",
		op.Agent, op.RequestID, s.Id, s.Row.Agent, s.Row.Request)
}

// resumable reports whether the running turn could be resumed: whether it has made a snapshot.
func (s *Session) resumable() bool {
	k := newestSnapshot(s.Row)
	return k != nil && (s.classic() || k.RequestOrdinal == s.Row.RequestOrdinal)
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

// commitBody writes the fields of the session's body that a commit replaces, if any.
func commitBody(c *txn.Tx, s *Session, op *agent.CommitSession) error {
	failed := op.Status == agent.SessionFailed || op.Status == agent.SessionCancelled
	if op.Result == nil && op.Environment == nil && op.Conversation == nil && !failed {
		return nil
	}
	body, err := sessionBody(c.Rows, c.Scope, s.Id)
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

// settleReview sets the status of a session that does not run. It is waiting exactly if reviews are
// pending. Any other status withdraws them, except a failure in classic mode.
func settleReview(c *txn.Tx, s *Session, status agent.SessionStatus) error {
	if pauses(status) {
		status = agent.SessionHibernated
		if s.Row.PendingReviews > 0 {
			status = agent.SessionWaiting
		}
		s.Row.Status = string(status)
		return nil
	}
	s.Row.Status = string(status)
	if s.classic() && status == agent.SessionFailed {
		return nil
	}
	return withdrawReviews(c, s, 0)
}

// Cancel runs cancel_session.
func Cancel(c *txn.Tx, op *agent.CancelSession) (agent.OpResult, error) {
	s, err := Load(c, op.Session)
	if err != nil {
		return nil, err
	}
	if op.LeaseID != "" {
		if _, err := underLease(c, s, op.LeaseID, op.Owner); err != nil {
			return nil, err
		}
	}
	if want := op.IfRevision; want != nil && *want != s.Row.Revision {
		return nil, staleRevision(s.Id, *want, s.Row.Revision)
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
	body, err := sessionBody(c.Rows, c.Scope, s.Id)
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
	return Stored(c, s)
}

// Fork creates a copy of a session that is not running.
func Fork(c *txn.Tx, op *agent.ForkSession) (agent.OpResult, error) {
	fork, err := NewFork(c, op)
	if err != nil {
		return nil, err
	}
	return Stored(c, fork)
}

// NewFork returns a session's fork, which the caller must store.
func NewFork(c *txn.Tx, op *agent.ForkSession) (*Session, error) {
	source, err := Load(c, op.Session)
	if err != nil {
		return nil, err
	}
	if err := txn.SameIncarnation(op.Session, op.IfIncarnation, source.Row.Incarnation); err != nil {
		return nil, err
	}
	if want := op.IfRevision; want != nil && *want != source.Row.Revision {
		return nil, staleRevision(source.Id, *want, source.Row.Revision)
	}
	if source.running() {
		return nil, leaseRefusal(c, source, agent.CodeSessionAlreadyRunning, "runs: fork it once its turn has ended")
	}
	old, err := Open(c, op.NewSession)
	if err != nil {
		return nil, err
	}
	if old != nil {
		e := agent.Errorf(agent.CodeAlreadyExists, "session %q exists already", op.NewSession)
		e.Revision = old.Row.Revision
		return nil, e
	}
	if err := c.CheckWritable(kv.KindSessionTombstone, op.NewSession, 0, 0); err != nil {
		return nil, err
	}
	fork := newSession(c, op.NewSession)
	return fork, copySession(c, fork, source, op.Snapshot)
}

// copySession fills a fork with its source's body, requests, and snapshots up to the forked one,
// from which it can be resumed. The fork names neither the source's thread nor its checkpoint.
func copySession(c *txn.Tx, fork, source *Session, snapshot string) error {
	from, to := source.Row, fork.Row
	settings := ops.SessionSettingsFromProto(from.Settings).SettingsForFork()
	to.Mode, to.Agent, to.Settings = from.Mode, from.Agent, ops.SessionSettingsToProto(&settings)
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
	body, err := sessionBody(c.Rows, c.Scope, source.Id)
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
	to.Lineage = &logpb.SessionLineage{Session: source.Id, Incarnation: from.Incarnation, Revision: from.Revision}
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

func copyRow(c *txn.Tx, kind string, source, fork *Session, ordinal, size uint64) error {
	raw, err := c.Rows.Get(kv.OrdinalKey(kind, c.Scope, source.Id, ordinal))
	if err != nil {
		return err
	}
	c.Rows.Set(kv.OrdinalKey(kind, c.Scope, fork.Id, ordinal), raw)
	c.AddUsage(0, int64(size))
	return nil
}
