package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// Parts records when a commit passed through the parts of a node. A nil *Parts records nothing. Each
// part writes before it hands the call on, and the caller reads when it has its answer; so Parts
// needs no lock.
type Parts struct {
	Queued   time.Time     // the leader's proposer took it
	Packed   time.Time     // it was packed into a log entry
	Settled  time.Time     // the entry was committed and applied
	Applying time.Duration // of Packed to Settled, how long the state machine took
	Sent     time.Time     // this node sent it to the leader
	Answered time.Time     // the leader answered
}

type partsKey struct{}

// WithParts returns ctx with a record for the parts of a node to fill.
func WithParts(ctx context.Context) (context.Context, *Parts) {
	p := new(Parts)
	return context.WithValue(ctx, partsKey{}, p), p
}

// PartsOf returns the record of ctx, or nil.
func PartsOf(ctx context.Context) *Parts {
	p, _ := ctx.Value(partsKey{}).(*Parts)
	return p
}

// Enqueue records that the proposer took the call.
func (p *Parts) Enqueue() {
	if p != nil {
		p.Queued = time.Now()
	}
}

// Settle records an entry.
func (p *Parts) Settle(packed time.Time, took, applying time.Duration) {
	if p != nil {
		p.Packed, p.Settled, p.Applying = packed, packed.Add(took), applying
	}
}

// Send records that the call is being sent to the leader.
func (p *Parts) Send() {
	if p != nil {
		p.Sent = time.Now()
	}
}

// Answer records the leader's answer.
func (p *Parts) Answer() {
	if p != nil {
		p.Answered = time.Now()
	}
}

// Waited returns how long the call waited in the leader's queue; 0 if it was not in this node's.
func (p *Parts) Waited() time.Duration {
	if p.Packed.IsZero() {
		return 0
	}
	return p.Packed.Sub(p.Queued)
}

// Logged returns how long its entry took to be on the disks of a majority.
func (p *Parts) Logged() time.Duration { return p.Settled.Sub(p.Packed) - p.Applying }

// Forwarded returns how long the leader took, as this node saw it; 0 if the call was not sent.
func (p *Parts) Forwarded() time.Duration {
	if p.Answered.IsZero() {
		return 0
	}
	return p.Answered.Sub(p.Sent)
}

// Spans makes the spans of the parts below the span of ctx, if that is recorded.
func (p *Parts) Spans(ctx context.Context) {
	if p == nil || !trace.SpanFromContext(ctx).IsRecording() || p.Packed.IsZero() {
		return
	}
	applied := p.Settled.Add(-p.Applying)
	part(ctx, "wait in the queue", p.Queued, p.Packed)
	part(ctx, "replicate", p.Packed, applied)
	part(ctx, "apply", applied, p.Settled)
}

func part(ctx context.Context, name string, from, to time.Time) {
	_, span := Child(ctx, name, trace.WithTimestamp(from))
	span.End(trace.WithTimestamp(to))
}
