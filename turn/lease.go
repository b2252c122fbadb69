package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dormouse/agent"
)

// ErrLost reports that the lease ended before the turn did. Another runner may
// run the session now, and nothing of the turn commits any more.
var ErrLost = errors.New("the session's lease is lost")

var errNotRenewed = errors.New("it was not renewed in time")

// Renewals are sent every third of the ttl, so two may fail. A failed one is
// repeated after a twelfth.
const (
	renewFraction = 3
	retryFraction = 12
)

// renewLoop renews the lease until ctx ends or the lease is lost. An update
// that shows another holder triggers a renewal at once. The ttl counts from
// before each call, by the monotonic clock, so the turn never assumes a longer
// lease than it has.
func renewLoop(ctx context.Context, t *Turn) {
	defer close(t.renewalsEnded)
	for next := time.Now().Add(t.ttl / renewFraction); ; {
		timer := time.NewTimer(min(time.Until(next), t.leaseLeft()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case now := <-t.leaseUpdates:
			timer.Stop()
			if now.epoch == t.lease.Epoch || now.index < t.leaseIndex {
				continue // of this lease's own start, or older
			}
		case <-timer.C:
		}
		if t.leaseLeft() <= 0 {
			t.setLost(errNotRenewed)
			return
		}
		err := t.renew(ctx)
		switch {
		case err == nil:
			next = time.Now().Add(t.ttl / renewFraction)
		case leaseEnded(err):
			t.setLost(err)
			return
		default:
			next = time.Now().Add(t.ttl / retryFraction)
		}
	}
}

func (t *Turn) renew(ctx context.Context) error {
	sentAt := time.Now()
	ctx, cancel := context.WithDeadline(ctx, sentAt.Add(t.leaseLeft()))
	defer cancel()
	_, err := t.runner.Service.Commit(ctx, agent.Commit{
		Scope: t.runner.Scope, Ops: []agent.Op{&agent.RenewSession{Session: t.session, LeaseID: t.lease.LeaseID, Owner: t.name}},
	})
	if err == nil {
		t.extend(sentAt)
	}
	return err
}

// extend records a renewal that was sent at asked.
func (t *Turn) extend(sentAt time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if until := sentAt.Add(t.ttl); until.After(t.leaseUntil) {
		t.leaseUntil = until
	}
}

// leaseLeft returns the guaranteed rest of the lease.
func (t *Turn) leaseLeft() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Until(t.leaseUntil)
}

// setLost ends the turn because its lease is lost.
func (t *Turn) setLost(why error) {
	err := fmt.Errorf("%w: %w", ErrLost, why)
	t.mu.Lock()
	if t.lossErr == nil {
		t.lossErr = err
	}
	t.mu.Unlock()
	t.cancel(err)
}

// lost returns ErrLost with the reason if the lease is lost. It checks the
// clock too, because timers fire late in a process that was stopped.
func (t *Turn) lost() error {
	if t.leaseLeft() <= 0 {
		t.setLost(errNotRenewed)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lossErr
}

// checkRunning returns an error if the turn may not continue.
func (t *Turn) checkRunning() error {
	if err := t.lost(); err != nil {
		return err
	}
	return context.Cause(t.ctx)
}

// leaseEnded reports whether a refusal means that the lease is no longer valid.
func leaseEnded(err error) bool {
	var op *opError
	if errors.As(err, &op) {
		return false
	}
	switch agent.CodeOf(err) {
	case agent.CodeFenced, agent.CodeStaleSessionLease, agent.CodeSessionLeaseExpired, agent.CodeNotFound, agent.CodeDeleted:
		return true
	default:
		return false
	}
}

// stopRenewing stops the renewals and waits for their end.
func (t *Turn) stopRenewing() {
	if t.stopRenewals == nil {
		return // it never started
	}
	t.stopRenewals()
	<-t.renewalsEnded
	t.cancel(nil)
}
