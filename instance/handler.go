package instance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dormouse/agent"
	"dormouse/internal/clip"
	"dormouse/internal/seededbug"
)

// Handler handles an instance's signals, one at a time. It says what it wants
// by the Turn; an error, a panic and being late leave nothing of it.
//
// It must end when ctx does: at the signal's deadline, and when the node may no
// longer act for the instance. One that does not is left behind, and its
// instance starts again from its newest checkpoint, with another Handler.
type Handler interface {
	Handle(ctx context.Context, t *Turn) error
}

// Restorer is a Handler that keeps something of its own in memory, which it
// makes from the state: when its instance wakes, and whenever a turn of its was
// not applied, with another Handler. An error is thaw_failed.
type Restorer interface {
	Restore(state agent.JSON) error
}

// Checkpointer is a Handler whose state after a turn is what Checkpoint returns,
// an object, instead of what the Turn was told.
type Checkpointer interface {
	Checkpoint() (agent.JSON, error)
}

// GoHandler is a kind of handlers that an embedding program registers, under
// the name that managers give. Where an instance is kept by a process that lacks
// its kind, another has its turns handled: by a Handler made for each of them.
type GoHandler struct {
	// New makes the Handler of an instance that wakes.
	New func(ref agent.InstanceRef) Handler
	// Version is that of the state; 0 means any. A manager of another version is
	// refused.
	Version uint64
	// Migrate makes a state of an older version one of Version; nil means that
	// the handler takes it as it is.
	Migrate func(from uint64, state agent.JSON) (agent.JSON, error)
}

// Registered is how a lease names handlers, in order.
func Registered(handlers map[string]GoHandler) []string {
	var names []string
	for name, g := range handlers {
		names = append(names, agent.HandlerVersion(name, g.Version))
	}
	slices.Sort(names)
	return names
}

// failed makes the error of a handler that failed: its turn is surely not
// applied.
func failed(reason, format string, args ...any) *agent.Error {
	e := agent.Errorf(agent.CodeHandlerFailed, format, args...)
	e.Detail, e.Reason = clipped(e.Detail), reason
	return e
}

// registeredHandler is the handler that a manager names.
func (h *Host) registeredHandler(manager agent.Manager) (GoHandler, error) {
	g, ok := h.o.Handlers[manager.Handler.Name]
	switch {
	case !ok || g.New == nil:
		return g, failed("not_registered", "node %s has no handler %q, which manager %q names: start it with the program that has",
			h.o.Node, manager.Handler.Name, manager.Name)
	case g.Version != 0 && g.Version != manager.Version:
		return g, failed("version", "manager %q is at version %d, handler %q of node %s at %d", manager.Name, manager.Version,
			manager.Handler.Name, h.o.Node, g.Version)
	}
	return g, nil
}

// migrate brings a state up to the manager's version.
func (h *Host) migrate(ctx context.Context, i *instance, manager agent.Manager, from uint64, state agent.JSON) (migrated agent.JSON, err error) {
	if manager.Handler.Kind != agent.HandlerGo {
		return state, nil // what handles it is told the version, or does not care
	}
	g, err := h.registeredHandler(manager)
	if err != nil && h.o.Remote != nil {
		return h.dryRunRemote(ctx, i, manager, from, state)
	}
	if err != nil || g.Migrate == nil {
		return state, err
	}
	defer func() {
		if v := recover(); v != nil {
			migrated, err = nil, refuseThaw(i, "migrate", "from version %d to %d: %s", from, manager.Version, h.logPanic(i, v))
		}
	}()
	if migrated, err = g.Migrate(from, state); err == nil {
		migrated, err = agent.CompactObject("state", migrated)
	}
	if err != nil {
		return nil, refuseThaw(i, "migrate", "from version %d to %d: %v", from, manager.Version, err)
	}
	return migrated, nil
}

// newHandler makes the Handler of an instance that has one of its own.
func (h *Host) newHandler(ctx context.Context, i *instance, manager agent.Manager, state agent.JSON) (handler Handler, err error) {
	if manager.Handler.Kind != agent.HandlerGo {
		return nil, nil
	}
	g, err := h.registeredHandler(manager)
	if err != nil && h.o.Remote != nil {
		return h.newRemoteHandler(ctx, i, manager, state)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if v := recover(); v != nil {
			handler, err = nil, refuseThaw(i, "restore", "%s", h.logPanic(i, v))
		}
	}()
	handler = g.New(i.ref())
	if r, ok := handler.(Restorer); ok {
		if err := r.Restore(state); err != nil {
			return nil, refuseThaw(i, "restore", "%v", err)
		}
	}
	return handler, nil
}

// resetHandler has the instance's Handler made anew: its turn was not applied. One
// that is away is made anew for each turn.
func (h *Host) resetHandler(i *instance) {
	if seededbug.Is(seededbug.UnappliedTurnStays) {
		return
	}
	if r := i.body.extra; r != nil {
		if _, is := r.handler.(*remoteHandler); !is {
			r.handler = nil
		}
	}
}

// callHandler has a turn's signal handled.
func (h *Host) callHandler(ctx context.Context, i *instance, manager agent.Manager, t *Turn) error {
	switch manager.Handler.Kind {
	case agent.HandlerDocument:
		return handleDocument(t)
	case agent.HandlerHTTP:
		return h.callWebhook(ctx, i, manager, t)
	default:
		return h.callGo(ctx, i, manager, t)
	}
}

// callGo calls a Go handler, which may do anything.
func (h *Host) callGo(ctx context.Context, i *instance, manager agent.Manager, t *Turn) error {
	r := i.ensureExtra()
	if r.handler == nil {
		var err error
		if r.handler, err = h.newHandler(ctx, i, manager, i.body.state); err != nil {
			return err
		}
	}
	if h.hungHandlers.Load() >= hungHandlersMax {
		return failed("timeout", "%d calls of handlers hang on node %s: it makes no more", hungHandlersMax, h.o.Node)
	}
	err := h.runHandler(ctx, i, r.handler, t)
	if err == nil {
		if ctx.Err() == nil {
			return nil
		}
		err = ctx.Err() // it came too late
	}
	h.resetHandler(i)
	cause := context.Cause(ctx)
	ended := interrupted(ctx)
	var crash *crashError
	switch {
	case errors.As(err, &crash):
		h.crashed(i)
		return crash.refusal
	case ended != nil:
		return ended
	case cause != nil:
		return failed("timeout", "the handler took longer than %v", manager.SignalTimeout())
	default:
		return handlerError(err)
	}
}

// handlerError is what a handler's error tells the caller: a refusal of its own stays
// what it is.
func handlerError(err error) *agent.Error {
	var own *agent.Error
	if errors.As(err, &own) && agent.OutcomeOf(own) == agent.Refused && own.Code != agent.CodeNotOwner {
		return &agent.Error{
			Code: own.Code, Detail: clipped(own.Detail), Op: -1, Field: clipped(own.Field), Limit: clipped(own.Limit), Reason: clipped(own.Reason), RetryAfterMS: own.RetryAfterMS,
		}
	}
	return failed("error", "%v", err)
}

// interrupted is the refusal where a handler was ended for no fault of its own:
// its instance is another's, or the node's lease has lapsed, or the node stops,
// for whatever reason. It is nil where the handler took too long, or ended by
// itself.
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

// crashError says that a handler panicked, or hangs.
type crashError struct{ refusal *agent.Error }

func (e *crashError) Error() string { return e.refusal.Error() }

// A handler is waited for a little past the end of its context, and no more of
// those that hang are left behind than hungHandlersMax.
const (
	handlerGrace    = time.Second
	hungHandlersMax = 1024
)

// runHandler runs a handler, and leaves it behind where it hangs.
func (h *Host) runHandler(ctx context.Context, i *instance, handler Handler, t *Turn) error {
	done := make(chan error, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		done <- h.callRecovered(ctx, i, handler, t)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	grace := time.NewTimer(handlerGrace)
	defer grace.Stop()
	select {
	case err := <-done:
		return err
	case <-grace.C:
	}
	h.hungHandlers.Add(1)
	go func() {
		<-ended
		h.hungHandlers.Add(-1)
	}()
	return &crashError{failed("timeout", "the handler hangs: it was left behind")}
}

// callRecovered calls a handler, and makes errors of its panics.
func (h *Host) callRecovered(ctx context.Context, i *instance, handler Handler, t *Turn) (err error) {
	returned := false
	defer func() {
		if v := recover(); v != nil {
			err = &crashError{failed("panic", "%s", h.logPanic(i, v))}
		} else if !returned {
			err = &crashError{failed("panic", "the handler ended its goroutine")}
		}
	}()
	if err = handler.Handle(ctx, t); err == nil {
		if c, ok := handler.(Checkpointer); ok {
			var state agent.JSON
			if state, err = c.Checkpoint(); err == nil {
				err = t.SetState(state)
			}
			if err != nil {
				err = fmt.Errorf("checkpoint: %w", err)
			}
		}
	}
	returned = true
	return err
}

// clipped bounds a text that comes from a handler, and makes it one: an error that
// is not UTF-8 is sent nowhere, and its caller would not hear that the turn is
// surely not applied.
func clipped(text string) string {
	return clip.Marked(text, errorBytesMax)
}

const errorBytesMax = 4 << 10 // of each text in a handler's error
