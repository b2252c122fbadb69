package grpc

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"

	"dormouse/agent"
	"dormouse/internal/budget"
	apipb "dormouse/proto/api"
	"dormouse/proto/codec"
)

const (
	// countedBytesLeast is the size from which a message counts as in flight. gRPC does not tell
	// when it has sent a smaller one; the streams of a connection bound those.
	countedBytesLeast = 2 << 10
	roomWait          = 30 * time.Second // a message of a stream waits for room
	retryAfterMS      = 1000
)

// sized is a message that knows the size of its encoding.
type sized interface{ EncodedSize() int }

// sizeOf returns the size of a message, 0 if it is too small to count.
func sizeOf(message any) int64 {
	if m, ok := message.(sized); ok {
		if size := m.EncodedSize(); size >= countedBytesLeast {
			return int64(size)
		}
	}
	return 0
}

// callerOf returns the caller whose share of the node's limits a call uses, and the address of its
// connection.
func callerOf(ctx context.Context) (caller, remote string) {
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		remote = p.Addr.String()
	}
	return budget.Caller(remote), remote
}

// overloaded returns the error for a limit of this node.
func overloaded() *agent.Error {
	err := agent.Errorf(agent.CodeOverloaded, "this node has as many bytes of requests and answers in flight as it may; retry later")
	err.RetryAfterMS = retryAfterMS
	return err
}

// counted is a message of which n bytes are counted until gRPC has sent it.
type counted struct {
	message any
	n       int64
	conn    *conn
}

// countingCodec is codec.Codec, also for counted messages.
type countingCodec struct{ encoding.CodecV2 }

var counting = countingCodec{codec.Codec}

// Marshal encodes a message. A counted one is given back when gRPC frees its encoding.
func (c countingCodec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(*counted)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	data, err := c.CodecV2.Marshal(m.message)
	if err != nil || len(data) != 1 || mem.IsBelowBufferPoolingThreshold(data.Len()) {
		m.conn.release(m.n)
		return data, err
	}
	raw := data[0].ReadOnlyData()
	return mem.BufferSlice{mem.NewBuffer(&raw, &sending{data: data, counted: m})}, nil
}

// malformed holds the messages that did not decode, until their call is refused: gRPC itself would
// call that an internal error. The keys are pointers to messages.
var malformed sync.Map

// Unmarshal decodes a message. It marks one that is malformed, for checkForm.
func (c countingCodec) Unmarshal(data mem.BufferSlice, v any) error {
	if err := c.CodecV2.Unmarshal(data, v); err != nil {
		malformed.Store(v, err)
	}
	return nil
}

// checkForm returns an error if a message that was received did not decode.
func checkForm(message any) error {
	if err, bad := malformed.LoadAndDelete(message); bad {
		return statusOf(agent.Invalid("message", "the message is malformed: %v", err))
	}
	return nil
}

// sending is the pool of one encoding: gRPC puts the encoding back once it has sent it, or once its
// stream or connection has ended.
type sending struct {
	data    mem.BufferSlice
	counted *counted
}

// Get implements mem.BufferPool; no buffer is taken from this pool.
func (s *sending) Get(n int) *[]byte { return mem.DefaultBufferPool().Get(n) }

// Put implements mem.BufferPool.
func (s *sending) Put(*[]byte) {
	s.data.Free()
	s.counted.conn.release(s.counted.n)
}

// healthWatchesMax is how many watches of the health there may be at once. They need no token, so they must not
// take the places of those that do.
const healthWatchesMax = 1_024

// room counts what the calls of one server have in flight.
type room struct {
	bytes   *budget.Pool // of requests and answers
	watches *budget.Pool // one per watch
	health  *budget.Pool // one per watch of the health, which needs no token
	conns   conns
}

// call counts a unary call and its answer. Only reads are refused for their answer: the outcome of
// any other call must be known.
func (r *room) call(ctx context.Context, req any, method string, handle func(ctx context.Context) (any, error)) (any, error) {
	caller, remote := callerOf(ctx)
	read := method == apipb.Store_Read_FullMethodName
	n := sizeOf(req)
	full := read && !r.bytes.Fits(caller, countedBytesLeast) // there would be no room for the answer
	if full || n > 0 && !r.bytes.Try(caller, n) {
		return nil, statusOf(overloaded())
	}
	defer r.bytes.Give(caller, n)
	if read {
		var work *budget.Work
		ctx, work = budget.WithWork(ctx, r.bytes, caller)
		defer work.Done()
	}
	answer, err := handle(ctx)
	if err != nil {
		return nil, err
	}
	size := sizeOf(answer)
	if size == 0 {
		return answer, nil
	}
	if !read {
		r.bytes.Force(caller, size)
	} else if !r.bytes.Try(caller, size) {
		return nil, statusOf(overloaded())
	}
	c := r.conns.get(remote)
	c.hold(r.bytes, caller, size)
	return &counted{message: answer, n: size, conn: c}, nil
}

// countingStream counts the messages of a stream until gRPC has sent them.
type countingStream struct {
	rpc.ServerStream
	bytes  *budget.Pool
	caller string
	conn   *conn
	force  bool // an Exchange stream, which has counted its replies
}

// stream returns the stream that counts, and what to call at its end.
func (r *room) stream(stream rpc.ServerStream, method string) (rpc.ServerStream, func(), error) {
	caller, remote := callerOf(stream.Context())
	end := func() {}
	if strings.HasSuffix(method, "/Watch") {
		watches := r.watches
		if !ours(method) {
			watches = r.health
		}
		if !watches.Try(caller, 1) {
			return nil, nil, statusOf(overloaded())
		}
		end = func() { watches.Give(caller, 1) }
	}
	return &countingStream{
		ServerStream: stream, bytes: r.bytes, caller: caller, conn: r.conns.get(remote), force: method == apipb.Store_Exchange_FullMethodName,
	}, end, nil
}

// RecvMsg receives a message. A malformed one is invalid.
func (s *countingStream) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	form := checkForm(m) // also if gRPC refuses the message for another reason: malformed must not keep it
	if err != nil {
		return err //nolint:wrapcheck // io.EOF at the end
	}
	return form
}

// SendMsg waits until there is room for the message.
func (s *countingStream) SendMsg(m any) error {
	size := sizeOf(m)
	if size == 0 {
		return s.ServerStream.SendMsg(m)
	}
	if s.force {
		s.bytes.Force(s.caller, size)
	} else {
		ctx, cancel := context.WithTimeout(s.Context(), roomWait)
		err := s.bytes.Take(ctx, s.caller, size)
		cancel()
		if err != nil {
			return statusOf(overloaded())
		}
	}
	s.conn.hold(s.bytes, s.caller, size)
	if err := s.ServerStream.SendMsg(&counted{message: m, n: size, conn: s.conn}); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}
