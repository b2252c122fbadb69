package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dormouse/agent"
)

// ErrLost says that the turn's lease has ended before the turn did: another
// may run the session now. Nothing of the turn commits any more.
var ErrLost = errors.New("the session's lease is lost")

var errNotRenewed = errors.New("it was not renewed in time")

// Renewals come every third of the ttl, so that two may fail; one that failed
// is tried again after a twelfth.
const (
	renewFraction = 3
	retryFraction = 12
)

// renewLoop renews the lease until ctx ends, or the lease is lost; before its time
// where it hears that another holds it. The ttl counts from before each call, by
// the monotonic clock, so it is never thought to stand longer than it does.
func (t *Turn) renewLoop(ctx context.Context) {
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
				continue // its own beginning, or what was before
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
	asked := time.Now()
	ctx, cancel := context.WithDeadline(ctx, asked.Add(t.leaseLeft()))
	defer cancel()
	_, err := t.runner.Service.Commit(ctx, agent.Commit{
		Scope: t.runner.Scope, Ops: []agent.Op{&agent.RenewSession{Session: t.session, LeaseID: t.lease.LeaseID, Owner: t.name}},
	})
	if err == nil {
		t.extend(asked)
	}
	return err
}

// extend notes that the lease was given its full ttl after a moment.
func (t *Turn) extend(asked time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if until := asked.Add(t.ttl); until.After(t.leaseUntil) {
		t.leaseUntil = until
	}
}

// leaseLeft is how much longer the lease stands for certain.
func (t *Turn) leaseLeft() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Until(t.leaseUntil)
}

// setLost ends the turn for want of its lease.
func (t *Turn) setLost(why error) {
	err := fmt.Errorf("%w: %w", ErrLost, why)
	t.mu.Lock()
	if t.lossErr == nil {
		t.lossErr = err
	}
	t.mu.Unlock()
	t.cancel(err)
}

// lost tells whether the lease is, and why. It looks at the clock: a process
// that was stopped sees its timers fire late.
func (t *Turn) lost() error {
	if t.leaseLeft() <= 0 {
		t.setLost(errNotRenewed)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lossErr
}

// checkRunning tells why the turn may not go on, if so.
func (t *Turn) checkRunning() error {
	if err := t.lost(); err != nil {
		return err
	}
	return context.Cause(t.ctx)
}

// leaseEnded tells whether a refusal means that the lease does not stand.
func leaseEnded(err error) bool {
	switch agent.CodeOf(err) {
	case agent.CodeFenced, agent.CodeStaleSessionLease, agent.CodeSessionLeaseExpired, agent.CodeNotFound, agent.CodeDeleted:
		return true
	default:
		return false
	}
}

// stopRenewing stops the renewals and waits until they have stopped.
func (t *Turn) stopRenewing() {
	if t.stopRenewals == nil {
		return // it never began
	}
	t.stopRenewals()
	<-t.renewalsEnded
	t.cancel(nil)
}
