package timer

import (
	"context"
	"errors"
	"time"

	"dormouse/agent"
	"dormouse/internal/clip"
	"dormouse/internal/seededbug"
)

// Timeouts of an attempt's calls.
const (
	commitTimeout = 30 * time.Second // of an acknowledgement or a recorded failure
	signalSlack   = 30 * time.Second // in addition to the longest timeout of a handler
)

// processTimer runs the action of one due timer.
func (w *Waker) processTimer(ctx context.Context, d *agent.DueTimer, wall int64, seen time.Time) {
	err := w.handle(ctx, d, wall, seen)
	if err != nil && ctx.Err() == nil {
		w.o.Logger.Debug("a timer waits for a retry", "scope", d.Scope, "manager", d.Manager, "key", d.Key, "timer", d.ID, "error", err)
	}
	w.finish(d, err)
}

func (w *Waker) handle(ctx context.Context, d *agent.DueTimer, wall int64, seen time.Time) error {
	step, err := Plan(&d.Timer, wall)
	if err == nil && !step.Fire {
		return w.commit(ctx, d.Scope, &step.Ack)
	}
	if err == nil {
		err = w.fire(ctx, d, &step.Ack)
	}
	if err == nil || isTransient(err) || ctx.Err() != nil {
		return err
	}
	if pending, readErr := w.isPending(ctx, d); readErr != nil || !pending {
		return readErr
	}
	fail := &agent.FailTimer{
		Manager: d.Manager, Key: d.Key, ID: d.ID, Generation: d.Generation, Instant: d.Next, Error: clip.Text(err.Error(), agent.TimerErrorBytesMax),
	}
	wait := retryDelay(d.Attempts)
	if agent.CodeOf(err) == agent.CodeNotFound {
		missing, readErr := w.managerMissing(ctx, d)
		if readErr != nil {
			return readErr
		}
		if fail.Waits = missing; missing {
			wait = agent.TimerRetryMost
		}
	}
	fail.NotBefore = wall + (time.Since(seen) + wait).Milliseconds()
	return w.commit(ctx, d.Scope, fail)
}

// managerMissing reports whether a timer's manager does not exist. A handler
// may return not_found too.
func (w *Waker) managerMissing(ctx context.Context, d *agent.DueTimer) (bool, error) {
	call, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	answers, err := w.o.Service.Read(call, agent.Reads{Scope: d.Scope, Reads: []agent.Read{&agent.GetManager{Name: d.Manager}}})
	if err != nil {
		return false, err
	}
	e := answers.Answers[0].Err
	return e != nil && e.Code == agent.CodeNotFound, nil
}

// isTransient reports whether the same attempt must be repeated: the call
// failed on the way to the instance, or its outcome is unknown.
func isTransient(err error) bool {
	switch agent.CodeOf(err) {
	case agent.CodeUnavailable, agent.CodeOverloaded, agent.CodeNotOwner, agent.CodeReadOnly, agent.CodeUnknown:
		return true
	default:
		return false
	}
}

// fire sends the signal, and acknowledges the occurrence unless the turn did.
func (w *Waker) fire(ctx context.Context, d *agent.DueTimer, ack *agent.AckTimer) error {
	call, cancel := context.WithTimeout(ctx, agent.SignalTimeoutMax+signalSlack)
	defer cancel()
	if seededbug.Is(seededbug.TimerAckedEarly) {
		if err := w.commit(ctx, d.Scope, ack); err != nil {
			return err
		}
		ack = nil
	}
	ref := agent.InstanceRef{Scope: d.Scope, Manager: d.Manager, Key: d.Key}
	_, err := w.o.Instances.Signal(call, ref, agent.Signal{Request: Request(d.Scope, &d.Timer), Type: d.Type, Data: d.Data, Ack: ack})
	if err != nil {
		return err
	}
	// A turn of an instance that commits later, or never, does not acknowledge.
	if pending, err := w.isPending(ctx, d); err != nil || !pending {
		return err
	}
	return w.commit(ctx, d.Scope, ack)
}

// isPending reports whether the occurrence is not acknowledged yet, as far as this node knows: it
// leads, and has applied what it answered. If it leads no more, the answer may be old; then the
// commit that follows is refused, because it names the occurrence.
func (w *Waker) isPending(ctx context.Context, d *agent.DueTimer) (bool, error) {
	call, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	answers, err := w.o.Service.Read(call, agent.Reads{
		Scope: d.Scope, Stale: true, Reads: []agent.Read{&agent.GetTimer{Manager: d.Manager, Key: d.Key, ID: d.ID}},
	})
	if err != nil {
		return false, err
	}
	t, ok := answers.Answers[0].Found.(*agent.Timer)
	return ok && t.Generation == d.Generation && t.Next == d.Next, nil
}

// commit commits one op of a timer. It returns nil if the occurrence is no
// longer pending.
func (w *Waker) commit(ctx context.Context, scope string, op agent.Op) error {
	call, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	_, err := w.o.Service.Commit(call, agent.Commit{Scope: scope, Ops: []agent.Op{op}})
	if errors.Is(err, agent.ErrConflict) {
		return nil
	}
	return err
}
