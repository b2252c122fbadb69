package jepsen

import (
	"context"

	"google.golang.org/grpc"

	"dormouse/jepsen/workload"
)

// countAttempts returns a dial option that counts the attempts of each call, for the
// workloads that need the number.
func countAttempts() grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
		workload.Attempted(ctx)
		return call(ctx, method, in, out, conn, options...)
	})
}
