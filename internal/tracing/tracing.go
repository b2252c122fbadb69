// Package tracing makes the spans of a call, in OpenTelemetry's terms, and carries its W3C trace
// context between processes.
//
// A span is made only below another that is recorded: without a tracer that starts one, everything
// here does nothing.
package tracing

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Name is the name of the tracers of Dormouse.
const Name = "dormouse"

var format propagation.TraceContext

// Context is a trace context as it is sent with a call: the headers traceparent and tracestate of
// the W3C recommendation Trace Context.
type Context struct{ Parent, State string }

// Get implements propagation.TextMapCarrier.
func (c *Context) Get(key string) string {
	switch key {
	case "traceparent":
		return c.Parent
	case "tracestate":
		return c.State
	}
	return ""
}

// Set implements propagation.TextMapCarrier.
func (c *Context) Set(key, value string) {
	switch key {
	case "traceparent":
		c.Parent = value
	case "tracestate":
		c.State = value
	}
}

// Keys implements propagation.TextMapCarrier.
func (c *Context) Keys() []string { return []string{"traceparent", "tracestate"} }

// Sampled reports whether the span of ctx is sampled.
func Sampled(ctx context.Context) bool { return trace.SpanContextFromContext(ctx).IsSampled() }

// Of returns the trace context of the span of ctx; the zero Context if that is not sampled.
func Of(ctx context.Context) Context {
	if !Sampled(ctx) {
		return Context{} // without an allocation
	}
	var c Context
	format.Inject(ctx, &c)
	return c
}

// With returns ctx with a trace context that another process sent. A wrong one changes nothing.
func With(ctx context.Context, c Context) context.Context {
	if c.Parent == "" {
		return ctx
	}
	return format.Extract(ctx, &c)
}

// FromHeader returns ctx with the trace context of a request's header.
func FromHeader(ctx context.Context, header http.Header) context.Context {
	return With(ctx, Context{header.Get("Traceparent"), header.Get("Tracestate")})
}

// ToHeader adds the trace context of ctx to a request's header.
func ToHeader(ctx context.Context, header http.Header) {
	format.Inject(ctx, propagation.HeaderCarrier(header))
}

// Serve starts the span of a call that this process serves, below the span or the trace context of
// ctx. A nil tracer starts none. The caller ends the span.
func Serve(ctx context.Context, tracer trace.Tracer, name string, attrs ...attribute.KeyValue) (context.Context, trace.Span) {
	if tracer == nil {
		return ctx, noop.Span{}
	}
	return tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attrs...))
}

// Child starts a span below the span of ctx, with the same provider. It starts none if that span is
// of another process or not recorded. The caller ends the span.
func Child(ctx context.Context, name string, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, noop.Span{}
	}
	return parent.TracerProvider().Tracer(Name).Start(ctx, name, o...)
}

// End ends a span, with the error of its call if that is not nil.
func End(span trace.Span, err error) {
	if err != nil && span.IsRecording() {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}
