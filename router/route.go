package router

import (
	"context"
	"errors"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/internal/pause"
	"dormouse/placement"
)

// repeat tells whether a call that may have been handled may be made again: it
// comes to the same, or its request id says that it is the same one.
type repeat bool

const (
	once       repeat = false
	repeatable repeat = true
)

// errMoved ends an attempt at an owner that owns the partition no more.
var errMoved = errors.New("the partition has another owner")

// route makes a call at the owner of the instance, wherever that is by then. An
// attempt ends when the partition changes hands: its owner's lease has lapsed, so
// whatever it answers is not to be believed, and the next owner can answer. The
// call is made again there if it may be, and is unknown otherwise.
func route[T any](ctx context.Context, r *Instances, ref agent.InstanceRef, may repeat, call func(context.Context, agent.Instances) (T, error)) (T, error) {
	var none T
	if err := ref.Validate(); err != nil {
		return none, err
	}
	partition := placement.Partition(ref.Scope, ref.Manager, ref.Key)
	giveUp := time.Now().Add(patience)
	backoff := newPause()
	var open error // an attempt that may have been handled
	for {
		changed := r.table.PartitionsChanged() // taken before the look
		owning := r.table.Partition(partition)
		owner, err := r.owner(owning)
		if err == nil {
			var answer T
			if answer, err = callOwner(ctx, r, owning, owner, call); err == nil {
				return answer, nil
			}
		}
		if errors.Is(err, errMoved) {
			open = agent.Errorf(agent.CodeUnknown, "the owner did not answer before its lease lapsed: the call may have been handled")
			if !may {
				return none, open
			}
			giveUp = time.Now().Add(patience)
			continue
		}
		if !moving(err) {
			return none, after(open, err)
		}
		wait := max(backoff.NextBackOff(), retryAfter(err))
		if time.Now().Add(wait).After(giveUp) {
			return none, after(open, settled(err))
		}
		select {
		case <-changed:
		case <-time.After(wait):
		case <-ctx.Done():
			return none, after(open, settled(err))
		}
	}
}

// callOwner makes a call at the owner that owning names. It returns errMoved where the
// partition has changed hands before the owner answered.
func callOwner[T any](ctx context.Context, r *Instances, owning agent.Partition, owner agent.Instances, call func(context.Context, agent.Instances) (T, error)) (T, error) {
	if owner == r.local {
		return call(ctx, owner) // it ends its calls itself when its lease lapses
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { r.untilMoved(ctx, owning, cancel) })
	answer, err := call(ctx, owner)
	moved := errors.Is(context.Cause(ctx), errMoved)
	cancel(nil)
	watch.Wait()
	if err != nil && moved && agent.OutcomeOf(err) == agent.Undecided {
		return answer, errMoved
	}
	return answer, err
}

// movedGrace is how long an attempt goes on after the partition has changed hands:
// an owner that gave it up in order has answered, and the answer is on its way.
const movedGrace = 500 * time.Millisecond

// untilMoved ends an attempt under owning once the partition has had another owner or
// epoch for movedGrace. A move that came before untilMoved was called counts too.
func (r *Instances) untilMoved(ctx context.Context, owning agent.Partition, end context.CancelCauseFunc) {
	for {
		changed := r.table.PartitionsChanged() // taken before the look
		if p := r.table.Partition(owning.ID); p.Owner != owning.Owner || p.Epoch != owning.Epoch {
			if pause.For(ctx, movedGrace) {
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

// after is the error of a call: a refusal speaks for its own attempt alone, and an
// earlier one may have been handled.
func after(open, last error) error {
	if open == nil {
		return last
	}
	return agent.Errorf(agent.CodeUnknown, "%v; then: %v", open, last)
}
