package client

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"dormouse/agent"
)

// insist makes a unary call at any node until it is answered, refused, or time
// is up. sure tells that a call whose outcome is unknown may be made again. The
// errors of call are *agent.Error.
//
// Once an attempt is unknown only an answer settles the call. A refusal speaks
// for its own attempt alone: another node may have made it without a look at
// what became of the earlier one, and the earlier one may be under way still.
// So it ends the call, as unknown.
//
// It goes to d's owner where that is known, and to any node else.
func insist[T any](ctx context.Context, c *Client, sure bool, d *direct, call func(context.Context, *grpc.ClientConn) (T, error)) (T, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	wait := newBackoff(backoffFirst, backoffMost)
	var open error // an attempt whose outcome is not known
	for {
		conn, failed, release, err := c.way(ctx, d)
		if err != nil {
			return *new(T), first(open, err)
		}
		answer, err := call(ctx, conn)
		release()
		if err == nil {
			return answer, nil
		}
		e, ok := err.(*agent.Error) //nolint:errorlint // this client's own, not wrapped
		if !ok {
			e = errorOf(err, true)
		}
		unknown := e.Code == agent.CodeUnknown
		if !agent.Retryable(e) && (!unknown || !sure) || c.pool.ctx.Err() != nil {
			return *new(T), first(open, e)
		}
		if unknown {
			open = e
		}
		if e.Code == agent.CodeUnavailable || unknown {
			failed()
		}
		select {
		case <-time.After(wait.NextBackOff() + time.Duration(max(0, e.RetryAfterMS))*time.Millisecond):
		case <-ctx.Done():
			return *new(T), first(open, e)
		}
	}
}

// way is where an attempt goes: failed is to be called where its node cannot
// serve, release when it is over.
func (c *Client) way(ctx context.Context, d *direct) (conn *grpc.ClientConn, failed, release func(), err error) {
	if conn, release := d.conn(); conn != nil {
		return conn, d.failed, release, nil
	}
	l, release, err := c.pool.wait(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	return l.conn, func() { c.pool.distrust(l) }, release, nil
}

// first is the error that counts: once an attempt is unknown, a later one that
// was refused, or not sent, says nothing of it.
func first(open, last error) error {
	switch {
	case open == nil:
		return last
	case agent.CodeOf(last) == agent.CodeUnknown:
		return open
	default:
		return agent.Errorf(agent.CodeUnknown, "an attempt may yet be done (%v); the last one: %v", open, last)
	}
}
