package grpc

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/api/ops"
	"dormouse/internal/tracing"
	apipb "dormouse/proto/api"
)

// The goroutines that answer the reads of one stream have a total weight of at most readWeightMax.
// A read with a long answer has a higher weight: a page may be ReadBytesMax.
const (
	readWeightMax  = 256
	pageReadWeight = 16
)

// exchange is one Exchange stream. Its handler writes; one goroutine reads.
//
// Invariant: every call holds its room (slots, bytes and for reads weight) from its beginning until
// its reply has been sent. So the server stops reading from a client that does not read.
type exchange struct {
	*api
	stream  apipb.Store_ExchangeServer
	caller  string              // whose share of the node's bytes the stream uses
	slots   *semaphore.Weighted // calls
	room    *semaphore.Weighted // bytes of the calls
	reads   *semaphore.Weighted // reads, by weight
	windows *windows
	batch   *readBatch     // reads that wait to be answered together; used only by the reading goroutine
	readers sync.WaitGroup // calls that are read; Add is guarded by mu and !refusing

	toRead      chan *readBatch // to the idle goroutines that answer reads; closed once there are no more
	idleReaders atomic.Int32

	wake  chan struct{} // capacity 1: ready has replies, or the input has ended
	input chan error    // capacity 1: why the reading goroutine ended

	mu       sync.Mutex
	inFlight flight      // guarded by mu; the head of a ring of the calls in flight
	count    int         // guarded by mu; the length of that ring
	held     int64       // guarded by mu; bytes of calls and replies that the node counts
	ended    bool        // guarded by mu; nothing more is counted
	ready    []completed // guarded by mu; replies not sent yet
	refusing bool        // guarded by mu; the stream is ending: new calls are refused
}

// flight is one call in flight.
type flight struct {
	id         uint64
	bytes      int64
	weight     int64 // of a read; 0 for a commit
	replyBytes int64 // that the node counts; set with settled
	window     *window
	settled    bool    // guarded by exchange.mu; it has its reply
	prev, next *flight // guarded by exchange.mu
}

// completed is a call with its reply.
type completed struct {
	*flight
	reply *apipb.Reply
	size  int
}

// Exchange serves one stream until the client closes it, or until Shutdown: then calls in flight
// are still answered.
func (s *store) Exchange(stream apipb.Store_ExchangeServer) error {
	x := &exchange{
		api: s.api, stream: stream,
		slots: semaphore.NewWeighted(s.inFlightMax), room: semaphore.NewWeighted(s.inFlightBytesMax),
		reads: semaphore.NewWeighted(readWeightMax),
		wake:  make(chan struct{}, 1), input: make(chan error, 1), toRead: make(chan *readBatch),
	}
	x.caller, _ = callerOf(stream.Context())
	x.inFlight.prev, x.inFlight.next = &x.inFlight, &x.inFlight
	x.windows = newWindows(stream.Context(), x.expire)
	defer x.windows.close()
	// Only the end of the stream stops a Recv, and the stream ends with this handler. So the
	// reading goroutine may outlive the handler for a moment.
	go func() { x.input <- x.receive(stream.Context()) }()
	err := x.send()
	x.refuseNew()
	x.stopCounting()
	x.windows.close() // cancels the remaining reads
	x.readers.Wait()
	if x.draining.Err() != nil && (!x.authenticating || access.MaySeeCluster(stream.Context())) {
		stream.SetTrailer(x.others())
	}
	return err
}

// receive begins calls until the input ends.
func (x *exchange) receive(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = statusOf(x.panicked("Exchange", r))
		}
	}()
	defer close(x.toRead)
	defer x.flush()
	for {
		frame, err := x.stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, call := range frame.Calls {
			if err := x.begin(ctx, call); err != nil {
				return err
			}
		}
		x.flush()
	}
}

// await acquires n of s. Before it waits it flushes the collected reads, because they hold room.
func (x *exchange) await(ctx context.Context, s *semaphore.Weighted, n int64) error {
	if s.TryAcquire(n) {
		return nil
	}
	x.flush()
	return s.Acquire(ctx, n)
}

// begin waits for room and starts one call. An error ends the stream.
func (x *exchange) begin(ctx context.Context, call *apipb.Call) error {
	f := &flight{id: call.GetId(), bytes: min(int64(call.EncodedSize()), x.inFlightBytesMax)}
	if err := x.await(ctx, x.slots, 1); err != nil {
		return err
	}
	if err := x.await(ctx, x.room, f.bytes); err != nil {
		return err
	}
	if err := x.countCall(ctx, f.bytes); err != nil {
		return err
	}
	timeout := x.timeout
	if ms := call.GetTimeoutMs(); ms != 0 {
		timeout = time.Duration(min(ms, uint64(timeoutMax/time.Millisecond))) * time.Millisecond
	}
	f.window = x.windows.at(timeout)
	if read := call.GetRead(); read != nil {
		f.weight = weigh(read)
		if err := x.await(ctx, x.reads, f.weight); err != nil {
			return err
		}
	}
	if !x.take(f) {
		x.refuse(f, errStopping())
		return nil
	}
	switch c := call.GetCall().(type) {
	case *apipb.Call_Commit:
		x.commit(f, c.Commit, traceOf(call))
	case *apipb.Call_Read:
		x.read(f, c.Read, traceOf(call))
	default:
		x.refuse(f, agent.Invalid("call", "the call is missing or of a kind that this node does not know"))
	}
	return nil
}

func (x *exchange) commit(f *flight, req *apipb.CommitRequest, trace tracing.Context) {
	c, err := convert.CommitFromProto(req)
	if err != nil {
		x.refuse(f, errorOf(err, true))
		return
	}
	x.trust(&c, req)
	x.service.Submit(tracing.With(f.window.ctx, trace), c, func(result agent.Result, err error) {
		defer x.recovered(f, "Exchange commit")
		if err != nil {
			x.refuse(f, errorOf(err, true))
			return
		}
		x.complete(f, &apipb.Reply{Id: f.id, Reply: &apipb.Reply_Commit{Commit: convert.ResultToProto(&result)}})
	})
}

func traceOf(call *apipb.Call) tracing.Context {
	return tracing.Context{Parent: call.Traceparent, State: call.Tracestate}
}

// recovered turns a panic into an internal error of the one call.
func (x *exchange) recovered(f *flight, where string) {
	if p := recover(); p != nil {
		x.refuse(f, x.panicked(where, p))
	}
}

func (x *exchange) refuse(f *flight, e *agent.Error) {
	x.complete(f, &apipb.Reply{Id: f.id, Reply: &apipb.Reply_Error{Error: ops.ErrorToProto(e)}})
}

// expire answers the commits whose deadline has passed. Reads end by their context.
func (x *exchange) expire(w *window) {
	var late []*flight
	x.mu.Lock()
	for f := x.inFlight.next; f != &x.inFlight; f = f.next {
		if f.window == w && f.weight == 0 {
			late = append(late, f)
		}
	}
	x.mu.Unlock()
	for _, f := range late {
		x.refuse(f, errorOf(context.DeadlineExceeded, true))
	}
}
