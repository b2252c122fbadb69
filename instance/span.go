package instance

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"dormouse/internal/tracing"
)

// traceCall starts the span of a call, below the caller's; the contexts of the call's work have it.
// The caller ends it with the call's error.
func (mb *mailbox) traceCall(i *instance, c *call) (end func(error)) {
	if mb.o.Tracer == nil {
		return func(error) {}
	}
	ctx := context.Background()
	if c.span != nil {
		ctx = trace.ContextWithSpan(ctx, c.span)
	}
	_, span := mb.o.Tracer.Start(ctx, c.name(), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String("dormouse.scope", i.manager.scope), attribute.String("dormouse.manager", i.manager.name), attribute.String("dormouse.key", i.key),
	))
	i.span = span
	return func(err error) {
		i.span = nil
		tracing.End(span, err)
	}
}

// traced returns ctx with the span of the call that the worker handles, if that has one.
func (i *instance) traced(ctx context.Context) context.Context {
	if i.span == nil {
		return ctx
	}
	return trace.ContextWithSpan(ctx, i.span)
}

// name returns the name of the call's span.
func (c *call) name() string {
	switch {
	case c.signal != nil:
		return "turn"
	case c.hibernate != "":
		return "hibernate"
	case c.attach != nil:
		return "attach"
	default:
		return "start"
	}
}
