package workload

import (
	"context"
	"sync/atomic"
)

// attemptsKey is where a context has the counter of a call's attempts.
type attemptsKey struct{}

// Attempted notes an attempt at the call of a context. Who dials the clients sees
// to it that each says so: a workload can then tell an answer of the first
// attempt from one that an earlier attempt may have had.
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
