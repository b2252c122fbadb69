package node

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"dormouse/agent"
	"dormouse/internal/history"
	"dormouse/internal/tracing"
)

// measuredInstances makes a span of each call of an instance that a handler may have to answer, and
// logs it if it takes long. It keeps the history of signals.
type measuredInstances struct {
	agent.Instances
	history *history.History
	tracer  trace.Tracer
	slow    *slowLog
}

// callSignal is the name of the span of a signal.
const callSignal = "signal"

// Start implements agent.Instances.
func (s *measuredInstances) Start(ctx context.Context, ref agent.InstanceRef, start agent.StartInstance) (found agent.Instance, err error) {
	err = s.call(ctx, "start", ref, func(ctx context.Context) error { found, err = s.Instances.Start(ctx, ref, start); return err })
	return found, err
}

// Attach implements agent.Instances.
func (s *measuredInstances) Attach(ctx context.Context, ref agent.InstanceRef, attach agent.Attach) (attached agent.Attached, err error) {
	err = s.call(ctx, "attach", ref, func(ctx context.Context) error { attached, err = s.Instances.Attach(ctx, ref, attach); return err })
	return attached, err
}

// Signal implements agent.Instances.
func (s *measuredInstances) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (reply agent.Reply, err error) {
	err = s.call(ctx, callSignal, ref, func(ctx context.Context) error { reply, err = s.Instances.Signal(ctx, ref, signal); return err })
	return reply, err
}

// Stop implements agent.Instances.
func (s *measuredInstances) Stop(ctx context.Context, ref agent.InstanceRef) error {
	return s.call(ctx, "stop", ref, func(ctx context.Context) error { return s.Instances.Stop(ctx, ref) })
}

// Hibernate implements agent.Instances.
func (s *measuredInstances) Hibernate(ctx context.Context, ref agent.InstanceRef) error {
	return s.call(ctx, "hibernate", ref, func(ctx context.Context) error { return s.Instances.Hibernate(ctx, ref) })
}

func (s *measuredInstances) call(ctx context.Context, name string, ref agent.InstanceRef, call func(context.Context) error) error {
	began := time.Now()
	ctx, span := spanOf(ctx, s.tracer, name)
	if span.IsRecording() {
		span.SetAttributes(attribute.String("dormouse.scope", ref.Scope), attribute.String("dormouse.manager", ref.Manager), attribute.String("dormouse.key", ref.Key))
	}
	err := call(ctx)
	tracing.End(span, err)
	took := time.Since(began)
	if name == callSignal {
		s.history.Observe(history.Signals, took, 1)
	}
	if s.slow.is(took) {
		s.slow.instance(ctx, name, ref, took, err)
	}
	return err
}
