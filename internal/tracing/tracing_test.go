package tracing

import (
	"context"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// A wrong trace context of a caller changes nothing, and one that is not sampled is not sent on.
func TestATraceContextOfACaller(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, c := range []struct {
		name, parent, state string
		valid, sampled      bool
	}{
		{"none", "", "", false, false},
		{"sampled", "00-" + id + "-00f067aa0ba902b7-01", "vendor=1", true, true},
		{"not sampled", "00-" + id + "-00f067aa0ba902b7-00", "", true, false},
		{"a later version", "01-" + id + "-00f067aa0ba902b7-01-more", "", true, true},
		{"garbage", "00-zz", "", false, false},
		{"zero", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "", false, false},
		{"a wrong state is dropped", "00-" + id + "-00f067aa0ba902b7-01", "=,=", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := With(t.Context(), Context{c.parent, c.state})
			sc := trace.SpanContextFromContext(ctx)
			if sc.IsValid() != c.valid || Sampled(ctx) != c.sampled {
				t.Errorf("valid %v, sampled %v", sc.IsValid(), Sampled(ctx))
			}
			if got := Of(ctx); (got.Parent != "") != c.sampled {
				t.Errorf("sent on as %+v", got)
			}
		})
	}
}

// Without a span of this process that is recorded there are no spans of parts, and a nil tracer makes
// none.
func TestNothingIsRecordedWithoutASpan(t *testing.T) {
	remote := With(t.Context(), Context{Parent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})
	for _, ctx := range []context.Context{t.Context(), remote} {
		if _, span := Child(ctx, "child"); span.IsRecording() {
			t.Error("a child is recorded")
		}
		if _, span := Serve(ctx, nil, "call"); span.IsRecording() {
			t.Error("a call without a tracer is recorded")
		}
	}
	spans := tracetest.NewInMemoryExporter()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)).Tracer("test")
	ctx, span := Serve(remote, tracer, "call")
	_, parts := WithParts(ctx)
	parts.Spans(ctx) // no part was passed
	span.End()
	if got := spans.GetSpans(); len(got) != 1 || got[0].Parent.SpanID().String() != "00f067aa0ba902b7" {
		t.Errorf("spans %+v", got)
	}
}
