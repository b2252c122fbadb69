package node

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"dormouse/agent"
	"dormouse/internal/tracing"
)

// measured observes each call of a service: its metrics, its span and, if it takes long, a line in
// the log.
type measured struct {
	agent.Submitter
	metrics *metrics // nil for commits of other nodes, which those count
	tracer  trace.Tracer
	slow    *slowLog
}

// Submit implements agent.Submitter.
func (s *measured) Submit(ctx context.Context, c agent.Commit, done func(agent.Result, error)) {
	began := time.Now()
	ctx, parts := tracing.WithParts(ctx)
	ctx, span := s.begin(ctx, "commit", c.Scope, len(c.Ops))
	s.Submitter.Submit(ctx, c, func(result agent.Result, err error) {
		took := time.Since(began)
		if s.metrics != nil {
			s.metrics.observe(ctx, "commit", took, err, 1)
		}
		parts.Spans(ctx)
		tracing.End(span, err)
		if s.slow.is(took) {
			s.slow.commit(ctx, c, parts, took, err)
		}
		done(result, err)
	})
}

// Commit implements agent.Service.
func (s *measured) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	return agent.Await(ctx, s, c)
}

// Read implements agent.Service.
func (s *measured) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	began := time.Now()
	ctx, span := s.begin(ctx, "read", r.Scope, len(r.Reads))
	answers, err := s.Submitter.Read(ctx, r)
	took := time.Since(began)
	if s.metrics != nil {
		s.metrics.observe(ctx, "read", took, err, len(r.Reads)) // possibly of several callers: see server/grpc's readBatch
	}
	tracing.End(span, err)
	if s.slow.is(took) {
		s.slow.read(ctx, r, took, err)
	}
	return answers, err
}

// spanOf starts the span of a call: below the one of the HTTP request or of the turn, or else that of
// a call that this node serves.
func spanOf(ctx context.Context, tracer trace.Tracer, name string) (context.Context, trace.Span) {
	if trace.SpanFromContext(ctx).IsRecording() {
		return tracing.Child(ctx, name)
	}
	return tracing.Serve(ctx, tracer, name)
}

func (s *measured) begin(ctx context.Context, name, scope string, ops int) (context.Context, trace.Span) {
	ctx, span := spanOf(ctx, s.tracer, name)
	if span.IsRecording() {
		span.SetAttributes(attribute.String("dormouse.scope", scope), attribute.Int("dormouse.ops", ops))
	}
	return ctx, span
}
