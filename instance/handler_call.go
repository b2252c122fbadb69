package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dormouse/agent"
)

// crashError reports that a handler panicked or does not return.
type crashError struct{ refusal *agent.Error }

func (e *crashError) Error() string { return e.refusal.Error() }

// A handler has handlerGrace to return after its context ends. At most
// hungHandlersMax abandoned calls may run.
const (
	handlerGrace    = time.Second
	hungHandlersMax = 1024
)

// Errors of a handler's code that did not return.
var (
	errAbandoned = errors.New("it did not return in time, and was abandoned")
	errGoexit    = errors.New("it ended its goroutine")
)

// call runs code of a handler in a goroutine. It abandons code that does not
// return after ctx has ended: the error is then errAbandoned.
func (rn *runner) call(ctx context.Context, code func() error) error {
	err, ended := errGoexit, make(chan struct{}) // err is read once ended is closed
	go func() {
		defer close(ended)
		err = code()
	}()
	select {
	case <-ended:
		return err
	case <-ctx.Done():
	}
	grace := time.NewTimer(handlerGrace)
	defer grace.Stop()
	select {
	case <-ended:
		return err
	case <-grace.C:
	}
	rn.hungHandlers.Add(1)
	go func() {
		<-ended
		rn.hungHandlers.Add(-1)
	}()
	return errAbandoned
}

// checkHung refuses a call while too many abandoned ones run.
func (rn *runner) checkHung() error {
	if rn.hungHandlers.Load() < hungHandlersMax {
		return nil
	}
	return failed("timeout", "%d handler calls on node %s do not return: the node accepts no more", hungHandlersMax, rn.o.Node)
}

// runHandler runs a handler, and abandons a call that does not return.
func (rn *runner) runHandler(ctx context.Context, i *instance, handler Handler, t *Turn) error {
	t.run = rn.store.runOf(i) // an abandoned call must not read the instance later
	err := rn.call(ctx, func() error { return rn.callRecovered(ctx, i, handler, t) })
	switch {
	case errors.Is(err, errAbandoned):
		return &crashError{failed("timeout", "the handler did not return after its timeout: the call was abandoned")}
	case errors.Is(err, errGoexit):
		return &crashError{failed("panic", "the handler ended its goroutine")}
	default:
		return err
	}
}

// callRecovered calls a handler and converts panics to errors.
func (rn *runner) callRecovered(ctx context.Context, i *instance, handler Handler, t *Turn) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &crashError{failed("panic", "%s", rn.logPanic(i, v))}
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
	return err
}

// callThaw runs code of a handler that an instance needs to thaw, as runHandler
// does. Its failures are thaw_failed with a reason, unless the instance's work
// was interrupted.
func (rn *runner) callThaw(ctx context.Context, i *instance, reason string, code func() error) error {
	if err := rn.checkHung(); err != nil {
		return err
	}
	err := rn.call(ctx, func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = errors.New(rn.logPanic(i, v))
			}
		}()
		return code()
	})
	if err == nil {
		return nil
	}
	if ended := interrupted(ctx); ended != nil && errors.Is(err, errAbandoned) {
		return ended
	}
	return refuseThaw(i, reason, "%v", err)
}
