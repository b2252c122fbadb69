package instance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/internal/clip"
	"dormouse/internal/seededbug"
)

// Handler handles an instance's signals, one at a time. It requests changes
// through the Turn. After an error, a panic or a timeout none of them applies.
//
// Handle must return when ctx ends: at the signal's deadline, or when the node
// may no longer act for the instance. The host abandons a call that does not
// return, and restarts the instance from its newest checkpoint with a new
// Handler.
type Handler interface {
	Handle(ctx context.Context, t *Turn) error
}

// Restorer is a Handler that keeps state of its own in memory. The host calls
// Restore on a new Handler when the instance wakes, and after each turn that
// was not applied. An error is thaw_failed.
type Restorer interface {
	Restore(state agent.JSON) error
}

// Checkpointer is a Handler whose state after a turn is the result of
// Checkpoint, an object. It replaces the state that the Turn was given.
type Checkpointer interface {
	Checkpoint() (agent.JSON, error)
}

// GoHandler is a handler that an embedding program registers under the name
// that managers use. If the process that owns an instance lacks its handler,
// another process handles the turns, each with a new Handler.
type GoHandler struct {
	// New makes the Handler of an instance that wakes.
	New func(ref agent.InstanceRef) Handler
	// Version is the version of the state; 0 accepts any. A manager of another
	// version is refused.
	Version uint64
	// Migrate converts a state of an older version to Version. If it is nil,
	// the handler gets the older state unchanged.
	Migrate func(from uint64, state agent.JSON) (agent.JSON, error)
}

// Registered returns the names of handlers as leases list them, sorted.
func Registered(handlers map[string]GoHandler) []string {
	var names []string
	for name, g := range handlers {
		names = append(names, layout.HandlerVersion(name, g.Version))
	}
	slices.Sort(names)
	return names
}

// failed returns a handler_failed error. Its turn was not applied.
func failed(reason, format string, args ...any) *agent.Error {
	e := agent.Errorf(agent.CodeHandlerFailed, format, args...)
	e.Detail, e.Reason = clipped(e.Detail), reason
	return e
}

// registeredHandler returns the handler that a manager names.
func (rn *runner) registeredHandler(manager agent.Manager) (GoHandler, error) {
	g, ok := rn.o.Handlers[manager.Handler.Name]
	switch {
	case !ok || g.New == nil:
		return g, failed("not_registered", "node %s has no handler %q, which manager %q names: start it with a program that registers the handler",
			rn.o.Node, manager.Handler.Name, manager.Name)
	case g.Version != 0 && g.Version != manager.Version:
		return g, failed("version", "manager %q has version %d, but handler %q of node %s has version %d", manager.Name, manager.Version,
			manager.Handler.Name, rn.o.Node, g.Version)
	}
	return g, nil
}

// migrate converts a state to the manager's version.
func (rn *runner) migrate(ctx context.Context, i *instance, manager agent.Manager, from uint64, state agent.JSON) (agent.JSON, error) {
	if manager.Handler.Kind != agent.HandlerGo {
		return state, nil // other kinds get the version, or do not use it
	}
	g, err := rn.registeredHandler(manager)
	if err != nil && rn.o.Remote != nil {
		return rn.dryRunRemote(ctx, i, manager, from, state)
	}
	if err != nil || g.Migrate == nil {
		return state, err
	}
	result := make(chan agent.JSON, 1) // an abandoned call may send it later
	err = rn.callThaw(ctx, i, "migrate", func() error {
		next, err := g.Migrate(from, state)
		if err == nil {
			next, err = agent.CompactObject("state", next)
		}
		if err != nil {
			return fmt.Errorf("from version %d to %d: %w", from, manager.Version, err)
		}
		result <- next
		return nil
	})
	if err != nil {
		return nil, err
	}
	return <-result, nil
}

// newHandler returns the Handler of an instance with a Go handler, and nil for
// other kinds.
func (rn *runner) newHandler(ctx context.Context, i *instance, manager agent.Manager, state agent.JSON) (Handler, error) {
	if manager.Handler.Kind != agent.HandlerGo {
		return nil, nil
	}
	g, err := rn.registeredHandler(manager)
	if err != nil && rn.o.Remote != nil {
		return rn.newRemoteHandler(ctx, i, manager, state)
	}
	if err != nil {
		return nil, err
	}
	made := make(chan Handler, 1) // an abandoned call may send it later
	err = rn.callThaw(ctx, i, "restore", func() error {
		handler := g.New(i.ref())
		if r, ok := handler.(Restorer); ok {
			if err := r.Restore(state); err != nil {
				return err
			}
		}
		made <- handler
		return nil
	})
	if err != nil {
		return nil, err
	}
	return <-made, nil
}

// resetHandler discards the instance's Handler after a turn that was not
// applied. A remote handler stays: it keeps no state between turns.
func (rn *runner) resetHandler(i *instance) {
	if seededbug.Is(seededbug.UnappliedTurnStays) {
		return
	}
	if r := i.body.extra; r != nil {
		if _, is := r.handler.(*remoteHandler); !is {
			r.handler = nil
		}
	}
}

// callHandler handles a turn's signal.
func (rn *runner) callHandler(ctx context.Context, i *instance, manager agent.Manager, t *Turn) error {
	switch manager.Handler.Kind {
	case agent.HandlerDocument:
		return handleDocument(t)
	case agent.HandlerHTTP:
		return rn.callWebhook(ctx, i, manager, t)
	default:
		return rn.callGo(ctx, i, manager, t)
	}
}

// callGo calls a Go handler, and turns a failure, a panic or a timeout into the
// error for the caller.
func (rn *runner) callGo(ctx context.Context, i *instance, manager agent.Manager, t *Turn) error {
	r := i.ensureExtra()
	if r.handler == nil {
		var err error
		if r.handler, err = rn.newHandler(ctx, i, manager, i.body.state); err != nil {
			return err
		}
	}
	if err := rn.checkHung(); err != nil {
		return err
	}
	err := rn.runHandler(ctx, i, r.handler, t)
	if err == nil {
		if ctx.Err() == nil {
			return nil
		}
		err = ctx.Err() // it returned after the deadline
	}
	rn.resetHandler(i)
	cause := context.Cause(ctx)
	ended := interrupted(ctx)
	var crash *crashError
	switch {
	case errors.As(err, &crash):
		rn.crashed(i)
		return crash.refusal
	case ended != nil:
		return ended
	case cause != nil:
		return failed("timeout", "the handler took longer than %v", manager.SignalTimeout())
	default:
		return handlerError(err)
	}
}

// handlerError returns the error for the caller after a handler's error. An
// agent.Error that is a refusal keeps its code; others become handler_failed.
func handlerError(err error) *agent.Error {
	var own *agent.Error
	if errors.As(err, &own) && agent.OutcomeOf(own) == agent.Refused && own.Code != agent.CodeNotOwner {
		return &agent.Error{
			Code: own.Code, Detail: clipped(own.Detail), Op: -1, Field: clipped(own.Field), Limit: clipped(own.Limit), Reason: clipped(own.Reason), RetryAfterMS: own.RetryAfterMS,
		}
	}
	return failed("error", "%v", err)
}

// interrupted returns the refusal for a handler whose context ended without a
// timeout: the instance moved, the lease expired, or the node stops. It returns
// nil after a timeout, or if the context has not ended.
func interrupted(ctx context.Context) error {
	cause := context.Cause(ctx)
	switch {
	case isCode(cause, agent.CodeUnavailable, agent.CodeNotOwner) || isErased(cause):
		return cause
	case errors.Is(ctx.Err(), context.Canceled):
		return errStopping
	default:
		return nil
	}
}

// clipped limits the length of a handler's text and makes it valid UTF-8. An
// error with invalid UTF-8 cannot be sent, so its caller would not learn that
// the turn was not applied.
func clipped(text string) string {
	return clip.Marked(text, errorBytesMax)
}

const errorBytesMax = 4 << 10 // of each text in a handler's error
