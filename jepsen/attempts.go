package jepsen

import (
	"context"

	"google.golang.org/grpc"

	"dormouse/jepsen/workload"
)

// countAttempts is what clients are dialled with, so that workloads know how many
// attempts a call has come to.
func countAttempts() grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
		workload.Attempted(ctx)
		return call(ctx, method, in, out, conn, options...)
	})
}
