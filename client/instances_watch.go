package client

import (
	"context"
	"iter"
	"time"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/internal/retry"
	apipb "dormouse/proto/api"
)

// Watch implements agent.Instances. If a node fails, it continues on another one, with
// an element that says that changes may be missing.
func (i instances) Watch(ctx context.Context, w agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	if w.Scope == "" {
		w.Scope = i.client.o.Scope
	}
	return func(yield func(agent.InstanceEvent, error) bool) {
		if err := w.Validate(); err != nil {
			yield(agent.InstanceEvent{}, err)
			return
		}
		wait := retry.New(backoffFirst, backoffMost)
		for {
			enough, heard, err := i.watchOnce(ctx, w, yield)
			switch {
			case enough || ctx.Err() != nil:
				return
			case i.client.pool.ctx.Err() != nil || !agent.Retryable(err):
				yield(agent.InstanceEvent{}, err)
				return
			case heard:
				wait.Reset()
			}
			select {
			case <-time.After(wait.Next()):
			case <-ctx.Done():
				return
			}
		}
	}
}

// watchOnce watches through one node until that fails, and returns the error. enough
// means that the consumer stopped.
func (i instances) watchOnce(ctx context.Context, w agent.InstanceWatch, yield func(agent.InstanceEvent, error) bool) (enough, heard bool, err error) {
	used, err := i.client.pool.wait(ctx)
	if err != nil {
		return false, false, err
	}
	defer used.release()
	l := used.link
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.stream.Context(), cancel)() // ends the watch when the link breaks
	at := convert.Remote{API: apipb.NewInstancesClient(used), Fail: func(err error, change bool) error { return errorOf(err, change) }}
	for event, err := range at.Watch(ctx, w) {
		if err != nil {
			if agent.Retryable(err) {
				i.client.pool.markUnhealthy(l)
			}
			return false, heard, err
		}
		heard = true
		if !yield(event, nil) {
			return true, heard, nil
		}
	}
	return false, heard, agent.Errorf(agent.CodeUnavailable, "the connection to %s broke", l.addr)
}
