package router

import (
	"context"
	"errors"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/internal/pause"
	"dormouse/placement"
)

// repeat reports whether a call that may have been handled may be repeated: because it is
// idempotent, or because its request id prevents a second execution.
type repeat bool

const (
	once       repeat = false
	repeatable repeat = true
)

// Reasons that end an attempt before its answer arrives.
var (
	errMoved  = errors.New("the partition has another owner")
	errSilent = errors.New("the node does not answer pings")
)

// route makes a call at the owner of the instance, which may change meanwhile. An attempt ends when
// the owner of the partition changes: the old owner's lease has ended, so its answer must not be
// used, and the next owner can answer. An attempt also ends when its node answers no pings, or when
// the connection breaks; the next attempt goes through another node, which may reach the owner. If
// the call may have been handled, route repeats it only if it is repeatable, and returns CodeUnknown
// otherwise.
func route[T any](ctx context.Context, r *Instances, ref agent.InstanceRef, may repeat, call func(context.Context, agent.Instances) (T, error)) (T, error) {
	var none T
	if err := ref.Validate(); err != nil {
		return none, err
	}
	partition := placement.Partition(ref.Scope, ref.Manager, ref.Key)
	giveUp := time.Now().Add(leaderWaitTimeout)
	backoff := newBackoff()
	var open error // an attempt that may have been handled
	var failed int // attempts at this owner that did not reach it
	for {
		changed := r.table.PartitionsChanged() // taken before the owner is read
		owning := r.table.Partition(partition)
		to, err := r.path(owning, failed)
		if err == nil {
			var answer T
			if answer, err = callBy(ctx, r, owning, to, call); err == nil {
				return answer, nil
			}
		}
		if unknown := undecided(err); unknown != nil {
			if open = unknown; !may {
				return none, open
			}
		}
		switch {
		case errors.Is(err, errMoved):
			giveUp, failed = time.Now().Add(leaderWaitTimeout), 0
			continue
		case errors.Is(err, errSilent) && time.Now().Before(giveUp):
			failed++
			continue
		case errors.Is(err, errSilent):
			return none, open
		case !moving(err) && !lost(err):
			return none, after(open, err)
		case unreachable(err):
			failed++
		}
		wait := max(backoff.Next(), retryAfter(err))
		if time.Now().Add(wait).After(giveUp) {
			return none, after(open, settled(err))
		}
		left := timeToWait(ctx)
		select {
		case <-changed:
			failed = 0
		case <-time.After(min(wait, left)):
			if left <= wait {
				return none, after(open, settled(err))
			}
		case <-r.noOwnerLeft():
			return none, after(open, settled(err))
		case <-ctx.Done():
			return none, after(open, settled(err))
		}
	}
}

// answerTime is the part of a caller's time that is left for the way of the answer: a refusal that
// arrives too late is unknown to the caller.
const answerTime = 50 * time.Millisecond

// timeToWait returns how long a call may wait for its next attempt.
func timeToWait(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		return leaderWaitTimeout
	}
	return time.Until(end) - answerTime
}

// callBy makes a call by a path to the owner that owning names. It returns errMoved if the owner
// changed before an answer arrived, and errSilent if the node of the path stopped answering pings.
// In both cases the call may have been handled.
func callBy[T any](ctx context.Context, r *Instances, owning layout.Partition, to path, call func(context.Context, agent.Instances) (T, error)) (T, error) {
	if to.addr == "" {
		return call(ctx, to.instances) // it ends its calls itself when its lease ends
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { r.untilMoved(ctx, owning, cancel) })
	watch.Go(func() { r.pings.untilSilent(ctx, to.addr, cancel) })
	answer, err := call(ctx, to.instances)
	cause := context.Cause(ctx)
	cancel(nil)
	watch.Wait()
	ended := errors.Is(cause, errMoved) || errors.Is(cause, errSilent)
	if err != nil && ended && agent.OutcomeOf(err) == agent.Undecided {
		return answer, cause
	}
	return answer, err
}

// movedDefault is the default of Instances.Moved.
const movedDefault = 500 * time.Millisecond

// untilMoved ends an attempt under owning once the partition has had another owner or epoch for
// Moved, including a change before the call.
func (r *Instances) untilMoved(ctx context.Context, owning layout.Partition, end context.CancelCauseFunc) {
	for {
		changed := r.table.PartitionsChanged() // taken before the owner is read
		if p := r.table.Partition(owning.ID); p.Owner != owning.Owner || p.Epoch != owning.Epoch {
			if pause.For(ctx, r.Moved) {
				end(errMoved)
			}
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// unreachable reports whether the owner was not reached, or its answer was lost.
func unreachable(err error) bool {
	var e *agent.Error
	return errors.As(err, &e) && e.Reason == agent.ReasonUnreachable
}

// lost reports whether the call was sent and its answer was lost: it may have been handled.
func lost(err error) bool { return unreachable(err) && agent.CodeOf(err) == agent.CodeUnknown }

// undecided returns the error of an attempt that may have been handled, and nil for all others.
func undecided(err error) error {
	switch {
	case lost(err):
		return err
	case errors.Is(err, errMoved), errors.Is(err, errSilent):
		return agent.Errorf(agent.CodeUnknown, "the owner did not answer, and %v: the call may have been handled", err)
	default:
		return nil
	}
}

// after returns the error of a call: a refusal is only about its own attempt, and an earlier one
// may have been handled.
func after(open, last error) error {
	if open == nil || lost(last) {
		return last
	}
	return agent.Errorf(agent.CodeUnknown, "%v; then: %v", open, last)
}
