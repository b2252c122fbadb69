package peer

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/api/ops"
	"dormouse/internal/tracing"
	apipb "dormouse/proto/api"
)

// Bounds of one stream of forwarded commits.
const (
	pendingCallsMax = 8192     // calls without an answer; one more is refused as overloaded
	queuedBytesMax  = 64 << 20 // bytes that are not sent yet
)

// errDeposed ends the stream to a node that does not lead any more.
var errDeposed = errors.New("another node leads now")

// exchange forwards commits over one Exchange stream, many in flight. If the stream
// breaks, the outcome of the commits that were sent is unknown, and the others were
// definitely not applied. A broken stream is not used again.
type exchange struct {
	cancel context.CancelFunc
	wake   chan struct{} // capacity 1: there is something to send

	mu      sync.Mutex
	broken  error                 // why the stream ended; nil while it lives. Guarded by mu
	pending map[uint64]*forwarded // :: id → call without an answer. Guarded by mu
	queue   []*forwarded          // not sent yet, in order. Guarded by mu
	bytes   int                   // of queue. Guarded by mu
	last    uint64                // the newest id. Guarded by mu
}

// forwarded is one commit without an answer.
type forwarded struct {
	call  *apipb.Call
	bytes int
	sent  bool // guarded by exchange.mu
	done  func(agent.Result, error)
}

// openExchange starts a stream, which ends with ctx; wg waits for its goroutines. It
// does not wait for the connection: commits are queued meanwhile.
func openExchange(ctx context.Context, open func(context.Context) (apipb.Store_ExchangeClient, error), wg *sync.WaitGroup) *exchange {
	ctx, cancel := context.WithCancel(ctx)
	x := &exchange{cancel: cancel, wake: make(chan struct{}, 1), pending: map[uint64]*forwarded{}}
	wg.Go(func() {
		stream, err := open(ctx)
		if err != nil {
			x.fail(err)
			return
		}
		wg.Go(func() { x.fail(x.receive(stream)) })
		x.fail(x.send(ctx, stream))
	})
	return x
}

// submit queues a commit. It returns false if the stream is broken; then the commit
// was not queued.
func (x *exchange) submit(ctx context.Context, c *agent.Commit, done func(agent.Result, error)) bool {
	trace := tracing.Of(ctx)
	call := &apipb.Call{Call: &apipb.Call_Commit{Commit: convert.CommitToProto(c)}, Traceparent: trace.Parent, Tracestate: trace.State}
	if deadline, ok := ctx.Deadline(); ok {
		call.TimeoutMs = uint64(max(1, time.Until(deadline).Milliseconds()))
	}
	f := &forwarded{call: call, bytes: call.EncodedSize(), done: done}
	x.mu.Lock()
	switch {
	case x.broken != nil:
		x.mu.Unlock()
		return false
	case len(x.pending) >= pendingCallsMax || x.bytes+f.bytes > queuedBytesMax:
		x.mu.Unlock()
		done(agent.Result{}, &agent.Error{
			Code: agent.CodeOverloaded, Op: -1, RetryAfterMS: 100,
			Detail: "too many commits wait for the leader's answer",
		})
		return true
	}
	x.last++
	call.Id = x.last
	x.pending[call.Id] = f
	x.queue = append(x.queue, f)
	x.bytes += f.bytes
	x.mu.Unlock()
	select {
	case x.wake <- struct{}{}:
	default:
	}
	return true
}

// send writes the queued calls, many in a message, until the stream breaks.
func (x *exchange) send(ctx context.Context, stream apipb.Store_ExchangeClient) error {
	for {
		select {
		case <-x.wake:
			// Callers that were answered together call again together: let them, so that their
			// commits share a message.
			runtime.Gosched()
		case <-ctx.Done():
			return ctx.Err()
		}
		for frame := x.frame(); frame != nil; frame = x.frame() {
			if err := stream.Send(&apipb.Calls{Calls: frame}); err != nil {
				return err
			}
		}
	}
}

// frame takes the calls of one message off the queue and marks them as sent. It
// returns nil if the queue is empty.
func (x *exchange) frame() []*apipb.Call {
	x.mu.Lock()
	defer x.mu.Unlock()
	var calls []*apipb.Call
	size := 0
	for len(x.queue) > 0 && len(calls) < convert.FrameCallsMax {
		f := x.queue[0]
		if len(calls) > 0 && size+f.bytes > convert.FrameBytesMax {
			break
		}
		f.sent = true
		size += f.bytes
		x.bytes -= f.bytes
		calls = append(calls, f.call)
		x.queue[0] = nil
		x.queue = x.queue[1:]
	}
	return calls
}

// receive hands the answers to the callers, until the stream breaks.
func (x *exchange) receive(stream apipb.Store_ExchangeClient) error {
	for {
		replies, err := stream.Recv()
		if err != nil {
			return err
		}
		for _, reply := range replies.Replies {
			x.mu.Lock()
			f := x.pending[reply.Id]
			delete(x.pending, reply.Id)
			x.mu.Unlock()
			if f != nil {
				f.done(decode(reply))
			}
		}
	}
}

func decode(reply *apipb.Reply) (agent.Result, error) {
	switch r := reply.Reply.(type) {
	case *apipb.Reply_Commit:
		return convert.ResultFromProto(r.Commit)
	case *apipb.Reply_Error:
		return agent.Result{}, ops.ErrorFromProto(r.Error)
	default:
		return agent.Result{}, agent.Errorf(agent.CodeUnknown, "the leader sent a reply of an unknown kind: check that all nodes run compatible versions")
	}
}

// fail ends the stream and fails all calls without an answer.
func (x *exchange) fail(err error) {
	x.cancel()
	x.mu.Lock()
	pending := x.pending
	x.pending, x.queue, x.bytes = nil, nil, 0
	if x.broken == nil {
		x.broken = err
	}
	x.mu.Unlock()
	for _, f := range pending {
		if f.sent {
			f.done(agent.Result{}, agent.Errorf(agent.CodeUnknown, "the stream to the leader broke: %v", err))
		} else {
			f.done(agent.Result{}, agent.Errorf(agent.CodeUnavailable, "the stream to the leader broke before the commit was sent: %v", err))
		}
	}
}
