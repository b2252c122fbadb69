package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dormouse/agent"
	"dormouse/internal/retry"
)

// requestTTL is the lifetime of a turn's request ids. It exceeds the time of
// all attempts at one commit.
const requestTTL = time.Hour

// endTimeout is how long a turn retries its last commit, even after the context
// of its caller has ended.
const endTimeout = 30 * time.Second

// Waits between attempts at a commit.
const (
	backoffMin = 20 * time.Millisecond
	backoffMax = time.Second
)

// commitUntilDecided commits ops and retries until their outcome is known or
// ctx ends. Commits are sent one at a time.
func (t *Turn) commitUntilDecided(ctx context.Context, fence *agent.Fence, ops ...agent.Op) (agent.Result, error) {
	t.commits.Lock()
	defer t.commits.Unlock()
	return commitNext(ctx, t, fence, ops...)
}

// commitNext is commitUntilDecided for a caller that holds t.commits.
func commitNext(ctx context.Context, t *Turn, fence *agent.Fence, ops ...agent.Op) (agent.Result, error) {
	t.seq++
	commit := agent.Commit{
		Scope: t.runner.Scope, Fence: fence, Ops: ops,
		Request: agent.Request{Client: t.name, Seq: t.seq, Low: t.seq, TTL: requestTTL},
	}
	undecided := false
	for attempts := retry.New(backoffMin, backoffMax); ; {
		result, err := t.runner.Service.Commit(ctx, commit)
		var e *agent.Error
		if err == nil || errors.As(err, &e) && e.Final {
			return result, err
		}
		undecided = undecided || agent.OutcomeOf(err) == agent.Undecided
		if !undecided && !agent.Retryable(err) {
			return agent.Result{}, err
		}
		if !attempts.Wait(ctx) {
			if undecided { // an earlier attempt may still apply
				return agent.Result{}, agent.Errorf(agent.CodeUnknown, "the outcome was still unknown after the timeout: %v", err)
			}
			return agent.Result{}, err
		}
	}
}

// sessionOf returns the result of a commit's last op, which must be a session.
func sessionOf(result agent.Result) (*agent.SessionResult, error) {
	if n := len(result.Results); n > 0 {
		if s, ok := result.Results[n-1].(*agent.SessionResult); ok {
			return s, nil
		}
	}
	return nil, agent.Errorf(agent.CodeInternal, "the result of the commit has no session")
}

// begin takes the lease and reads the session and the request.
func (t *Turn) begin(ctx context.Context, op agent.Op) error {
	sentAt := time.Now()
	result, err := t.commitUntilDecided(ctx, nil, op)
	if err != nil {
		return err
	}
	s, err := sessionOf(result)
	if err != nil {
		return err
	}
	switch lease := s.Session.Lease; {
	case lease != nil && lease.Owner == t.name:
		t.lease, t.leaseIndex = *lease, result.Index
	case s.Queued != 0:
		return &QueuedError{Place: s.Queued}
	default:
		return agent.Errorf(agent.CodeInvalid, "session %q grants no leases: use a session in mode %q", t.session, agent.SessionModeLease)
	}
	t.extend(sentAt)
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	renewals, halt := context.WithCancel(context.WithoutCancel(ctx))
	t.stopRenewals = halt
	go renewLoop(renewals, t)
	if err := t.loadWithRetry(s.Recovery); err != nil {
		return errors.Join(err, t.release(err))
	}
	return nil
}

// release ends a turn that cannot begin, such as one whose journal this version
// does not read, so that its session is not busy until the lease ends. The turn
// pauses, or fails if it has no snapshot to be resumed from. If the context has
// ended, or the lease is lost, the session stays as it is.
func (t *Turn) release(failure error) error {
	if t.checkRunning() != nil || errors.Is(failure, ErrLost) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), endTimeout)
	defer cancel()
	_, err := t.commitEnd(ctx, []agent.Op{commitOp(t, agent.SessionHibernated)})
	if agent.CodeOf(err) == agent.CodeMissingSnapshot {
		_, err = t.fail(ctx, failure)
	}
	return asLost(err)
}

// loadWithRetry is load. It repeats reads that fail, such as during an election: the
// session runs already. If the context ends first, the error has code unknown.
func (t *Turn) loadWithRetry(recovery *agent.Recovery) error {
	for attempts := retry.New(backoffMin, backoffMax); ; {
		err := t.load(recovery)
		if !agent.Retryable(err) && agent.CodeOf(err) != agent.CodeUnknown {
			return err
		}
		if !attempts.Wait(t.ctx) {
			if err := t.lost(); err != nil {
				return err
			}
			return agent.Errorf(agent.CodeUnknown, "the turn has begun, and cannot read its session: %v", err)
		}
	}
}

// QueuedError reports that a session was busy and has queued the request.
// Runner.Next answers queued requests.
type QueuedError struct{ Place uint64 } // position in the queue, from 1

func (e *QueuedError) Error() string {
	return fmt.Sprintf("the session is busy: the request is at position %d of its queue", e.Place)
}

// load reads the session, and for a continued turn its journal and reviews.
func (t *Turn) load(recovery *agent.Recovery) error {
	answers, err := t.Read(
		&agent.GetSession{Session: t.session},
		&agent.ListReviews{Session: t.session, Page: agent.Page{Limit: agent.SessionReviewsKept}})
	if err != nil {
		return err
	}
	session, ok := answers[0].Found.(*agent.Session)
	if !ok {
		return fmt.Errorf("read the session: %w", errUnexpected(answers[0]))
	}
	reviews, ok := answers[1].Found.(*agent.ReviewList)
	if !ok {
		return fmt.Errorf("read its reviews: %w", errUnexpected(answers[1]))
	}
	if session.Lease == nil || session.Lease.LeaseID != t.lease.LeaseID {
		return fmt.Errorf("%w: another runner has claimed the session", ErrLost)
	}
	t.initial = *session
	t.reviews = map[string]agent.Review{}
	for _, r := range reviews.Items {
		t.reviews[r.ID] = r
	}
	for _, r := range session.Requests {
		if r.ID == t.lease.RequestID {
			t.request = r
		}
	}
	if t.request.ID == "" {
		return agent.Errorf(agent.CodeNotFound, "request %q is no longer stored", t.lease.RequestID)
	}
	if recovery == nil || recovery.Resume == "" {
		return nil
	}
	for i := range session.Snapshots {
		if s := &session.Snapshots[i]; s.ID == recovery.Resume {
			t.journal, err = readJournal(s.TurnState)
			return err
		}
	}
	return agent.Errorf(agent.CodeMissingSnapshot, "snapshot %q is no longer stored", recovery.Resume)
}

func errUnexpected(a agent.Answer) error {
	if a.Err != nil {
		return a.Err
	}
	return agent.Errorf(agent.CodeInternal, "the answer is a %T", a.Found)
}

// snapshot returns the turn's state. Each lease overwrites one snapshot, so a
// long turn does not push out those of earlier leases.
func (t *Turn) snapshot(phase agent.CursorPhase) (agent.SessionSnapshot, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state, err := t.journal.encode()
	return agent.SessionSnapshot{
		ID: "snap_" + t.lease.LeaseID, RequestID: t.request.ID, TurnState: state,
		Cursor: agent.Cursor{Phase: phase, LoopIndex: uint64(len(t.journal.Effects))},
	}, err
}

// save stores a snapshot, which also renews the lease. It continues after the
// caller's context has ended, so that finished effects are recorded.
func (t *Turn) save(phase agent.CursorPhase) error {
	if err := t.lost(); err != nil {
		return err
	}
	t.commits.Lock() // before the snapshot: a commit must not replace a newer one of a concurrent effect
	defer t.commits.Unlock()
	snapshot, err := t.snapshot(phase)
	if err != nil {
		return err
	}
	sentAt := time.Now()
	ctx, cancel := context.WithDeadline(context.WithoutCancel(t.ctx), sentAt.Add(t.leaseLeft()))
	defer cancel()
	_, err = commitNext(ctx, t, t.Fence(), &agent.CheckpointSession{
		Session: t.session, LeaseID: t.lease.LeaseID, Owner: t.name, Snapshot: snapshot,
	})
	switch {
	case err == nil:
		t.extend(sentAt)
		return nil
	case leaseEnded(err):
		t.setLost(err)
		return t.lost()
	default:
		return fmt.Errorf("keep a snapshot of the turn: %w", err)
	}
}
