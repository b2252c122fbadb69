// Package grpctrace carries trace contexts in the metadata of unary gRPC calls.
package grpctrace

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"dormouse/internal/tracing"
)

// Incoming returns the context of a call that is served, with the trace context of its metadata.
func Incoming(ctx context.Context) context.Context {
	md, _ := metadata.FromIncomingContext(ctx)
	var c tracing.Context
	for _, key := range c.Keys() {
		if values := md.Get(key); len(values) == 1 {
			c.Set(key, values[0])
		}
	}
	return tracing.With(ctx, c)
}

// Outgoing is an interceptor that makes a span of a call below the span of its context, and sends the
// trace context with it. It does neither if that span is not recorded.
func Outgoing(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
	ctx, span := tracing.Child(ctx, strings.TrimPrefix(method, "/"), trace.WithSpanKind(trace.SpanKindClient))
	c := tracing.Of(ctx)
	for _, key := range c.Keys() {
		if value := c.Get(key); value != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, key, value)
		}
	}
	err := invoke(ctx, method, request, reply, conn, o...)
	tracing.End(span, err)
	return err
}
