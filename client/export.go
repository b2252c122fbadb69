package client

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/internal/retry"
	apipb "dormouse/proto/api"
)

// exportBufferMax bounds the bytes of an export that the client buffers, so that it can begin again.
const exportBufferMax = 4 << 20

// ExportScope calls write with the rows of a scope; see layout.Operator. If the node stops or cannot
// serve, the export begins again at another node, until the client's timeout has passed without a part
// of it. For that it buffers the first 4 MiB. Once write was called an error is final, since another
// node has no state of the same index: discard the output and export again.
func (c *Client) ExportScope(ctx context.Context, scope string, write func(agent.ScopePart) error) error {
	e := &scopeExport{scope: scope, write: write, receivedAt: time.Now()}
	for wait := retry.New(backoffFirst, backoffMost); ; {
		err := e.attempt(ctx, c)
		again := err != nil && !e.delivering && agent.Retryable(err) && c.pool.ctx.Err() == nil && time.Since(e.receivedAt) < c.o.Timeout
		if !again || !wait.Wait(ctx) {
			return err
		}
	}
}

// scopeExport is an export that may begin again.
type scopeExport struct {
	scope      string
	write      func(agent.ScopePart) error
	buffered   []agent.ScopePart
	bytes      int       // of buffered
	delivering bool      // write was called
	failed     error     // of write
	receivedAt time.Time // when the last part arrived
}

// attempt exports from one node.
func (e *scopeExport) attempt(ctx context.Context, c *Client) error {
	used, err := c.waitForNode(ctx)
	if err != nil {
		return err
	}
	defer used.release()
	e.buffered, e.bytes = nil, 0
	_, err = attemptUntilSilent(ctx, c, reading, used.ClientConn, func(ctx context.Context, conn *grpc.ClientConn) (struct{}, error) {
		open := func(ctx context.Context, api apipb.ClusterClient) (grpc.ServerStreamingClient[apipb.ExportScopeChunk], error) {
			return api.ExportScope(ctx, &apipb.ExportScopeRequest{Scope: e.scope})
		}
		return struct{}{}, receiveFrom(ctx, conn, open, func(part *apipb.ExportScopeChunk) error { return e.take(convert.ScopePartFromProto(part)) })
	})
	switch {
	case e.failed != nil:
		return e.failed
	case err == nil:
		return e.deliver()
	case agent.CodeOf(err) == agent.CodeUnavailable:
		c.pool.markUnhealthy(used.link)
	}
	return err
}

// take buffers a part, or delivers it if the buffer is full.
func (e *scopeExport) take(part agent.ScopePart) error {
	e.receivedAt = time.Now()
	e.buffered, e.bytes = append(e.buffered, part), e.bytes+len(part.Rows)
	if !e.delivering && e.bytes <= exportBufferMax {
		return nil
	}
	return e.deliver()
}

// deliver passes the buffered parts to write.
func (e *scopeExport) deliver() error {
	e.delivering = true
	for _, part := range e.buffered {
		if e.failed = e.write(part); e.failed != nil {
			return e.failed
		}
	}
	e.buffered, e.bytes = nil, 0
	return nil
}
