package workload

import (
	"context"
	"sync/atomic"
)

// attemptsKey is the context key of the counter of a call's attempts.
type attemptsKey struct{}

// Attempted counts an attempt of the call of a context. The dial options of the
// clients call it for each attempt. So a workload can tell an answer to the first
// attempt from an answer that may be to an earlier one.
func Attempted(ctx context.Context) {
	if n, ok := ctx.Value(attemptsKey{}).(*atomic.Int64); ok {
		n.Add(1)
	}
}

// Counting returns a context for one call of a client, and the counter of its
// attempts. The counter stays 0 if the client does not call Attempted.
func Counting(ctx context.Context) (context.Context, *atomic.Int64) {
	n := new(atomic.Int64)
	return context.WithValue(ctx, attemptsKey{}, n), n
}
