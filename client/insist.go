package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc"

	"dormouse/agent"
	"dormouse/internal/retry"
)

// callKind says whether a call changes something, and whether a second attempt may change it again.
type callKind int

const (
	reading    callKind = iota
	repeatable          // a change that has the same outcome if it is made twice
	onceOnly            // a change that a second attempt may make again
)

// attemptMin is the time that an attempt after the first must have: the node's refusal of a shorter one
// would come too late, and leave the outcome of the call unknown.
const attemptMin = 50 * time.Millisecond

// unanswered returns the code of an attempt that its node did not answer.
func (k callKind) unanswered() agent.Code {
	if k == reading {
		return agent.CodeUnavailable
	}
	return agent.CodeUnknown
}

// callWithRetry makes a unary call on any node, and retries it until it is answered, refused,
// or time is up. A call of kind onceOnly is not sent again if its outcome is unknown.
// The errors of call are *agent.Error.
//
// Once an attempt is unknown, only an answer settles the call. A refusal is about its
// own attempt only: the node may not know about the earlier one, which may still be
// running. So a refusal then ends the call as unknown.
//
// The call goes to the owner in d if it is known, otherwise to any node.
func callWithRetry[T any](ctx context.Context, c *Client, kind callKind, d *direct, call func(context.Context, *grpc.ClientConn) (T, error)) (T, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	wait := retry.New(backoffFirst, backoffMost)
	var open error // an attempt whose outcome is unknown
	for {
		conn, failed, release, err := c.pickConn(ctx, d)
		if err != nil {
			return *new(T), first(open, err)
		}
		answer, err := attemptUntilSilent(ctx, c, kind, conn, call)
		release()
		if err == nil {
			return answer, nil
		}
		e, ok := err.(*agent.Error) //nolint:errorlint // this client's own, not wrapped
		if !ok {
			e = errorOf(err, true)
		}
		unknown := e.Code == agent.CodeUnknown
		if e.Code == agent.CodeUnavailable || unknown {
			failed()
		}
		if !agent.Retryable(e) && (!unknown || kind == onceOnly) || c.pool.ctx.Err() != nil {
			return *new(T), first(open, e)
		}
		if unknown {
			open = e
		}
		select {
		case <-time.After(wait.Next() + time.Duration(max(0, e.RetryAfterMS))*time.Millisecond):
			if end, ok := ctx.Deadline(); ok && time.Until(end) < attemptMin {
				return *new(T), first(open, e)
			}
		case <-ctx.Done():
			return *new(T), first(open, e)
		}
	}
}

// attemptUntilSilent makes one attempt, which ends if its node does not answer any more.
func attemptUntilSilent[T any](ctx context.Context, c *Client, kind callKind, conn *grpc.ClientConn, call func(context.Context, *grpc.ClientConn) (T, error)) (T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { c.pool.lookout.untilSilent(ctx, conn, cancel) })
	answer, err := call(ctx, conn)
	silent := errors.Is(context.Cause(ctx), errSilent)
	cancel(nil)
	watch.Wait()
	if err != nil && silent {
		err = agent.Errorf(kind.unanswered(), "%v", errSilent)
	}
	return answer, err
}

// pickConn returns the connection for an attempt. Call failed if its node cannot serve, and
// release when the attempt is over.
func (c *Client) pickConn(ctx context.Context, d *direct) (conn *grpc.ClientConn, failed, release func(), err error) {
	if conn, release := d.conn(); conn != nil {
		return conn, d.failed, release, nil
	}
	used, err := c.pool.wait(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	return used.ClientConn, func() { c.pool.markUnhealthy(used.link) }, used.release, nil
}

// first returns the error of the whole call. If an attempt is unknown, the refusal of
// a later one does not settle it.
func first(open, last error) error {
	switch {
	case open == nil:
		return last
	case agent.CodeOf(last) == agent.CodeUnknown:
		return open
	default:
		return agent.Errorf(agent.CodeUnknown, "an attempt may still be done (%v); the last one: %v", open, last)
	}
}
