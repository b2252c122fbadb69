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

var errLate = errors.New("it was not renewed in time")

// Renewals come every third of the ttl, so that two may fail; one that failed
// is tried again after a twelfth.
const (
	renewEvery = 3
	retryEvery = 12
)

// keep renews the lease until ctx ends, or the lease is lost; before its time
// where it hears that another holds it. The ttl counts from before each call, by
// the monotonic clock, so it is never thought to stand longer than it does.
func (t *Turn) keep(ctx context.Context) {
	defer close(t.kept)
	for next := time.Now().Add(t.ttl / renewEvery); ; {
		timer := time.NewTimer(min(time.Until(next), t.left()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case now := <-t.heard:
			timer.Stop()
			if now.epoch == t.lease.Epoch || now.index < t.began {
				continue // its own beginning, or what was before
			}
		case <-timer.C:
		}
		if t.left() <= 0 {
			t.gone(errLate)
			return
		}
		err := t.renew(ctx)
		switch {
		case err == nil:
			next = time.Now().Add(t.ttl / renewEvery)
		case leaseEnded(err):
			t.gone(err)
			return
		default:
			next = time.Now().Add(t.ttl / retryEvery)
		}
	}
}

func (t *Turn) renew(ctx context.Context) error {
	asked := time.Now()
	ctx, cancel := context.WithDeadline(ctx, asked.Add(t.left()))
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
	if until := asked.Add(t.ttl); until.After(t.until) {
		t.until = until
	}
}

// left is how much longer the lease stands for certain.
func (t *Turn) left() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Until(t.until)
}

// gone ends the turn for want of its lease.
func (t *Turn) gone(why error) {
	err := fmt.Errorf("%w: %w", ErrLost, why)
	t.mu.Lock()
	if t.loss == nil {
		t.loss = err
	}
	t.mu.Unlock()
	t.lose(err)
}

// lost tells whether the lease is, and why. It looks at the clock: a process
// that was stopped sees its timers fire late.
func (t *Turn) lost() error {
	if t.left() <= 0 {
		t.gone(errLate)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.loss
}

// alive tells why the turn may not go on, if so.
func (t *Turn) alive() error {
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

// release stops the renewals and waits until they have stopped.
func (t *Turn) release() {
	if t.halt == nil {
		return // it never began
	}
	t.halt()
	<-t.kept
	t.lose(nil)
}
