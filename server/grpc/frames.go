package grpc

import (
	"context"
	"errors"
	"net"
	"sync"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/internal/budget"
	"dormouse/internal/framed"
	apipb "dormouse/proto/api"
)

// frames serves the streams whose connections carry frames instead of gRPC (package framed), on the
// port of a gRPC server. Each is served as gRPC would serve it, with the same interceptor.
type frames struct {
	handlers  map[string]func(rpc.ServerStream) error // :: method → handler of a stream
	intercept rpc.StreamServerInterceptor             // nil means none
	bytes     *budget.Pool                            // of long messages that are being received; nil has no bound

	mu     sync.Mutex
	closed bool                              // guarded by mu
	open   map[*framed.ServerStream]struct{} // guarded by mu
	serves sync.WaitGroup                    // Add is guarded by mu and !closed
}

func newFrames(store apipb.StoreServer, intercept rpc.StreamServerInterceptor, bytes *budget.Pool) *frames {
	exchange := func(s rpc.ServerStream) error {
		return store.Exchange(&rpc.GenericServerStream[apipb.Calls, apipb.Replies]{ServerStream: s})
	}
	return &frames{
		handlers:  map[string]func(rpc.ServerStream) error{apipb.Store_Exchange_FullMethodName: exchange},
		intercept: intercept, bytes: bytes, open: map[*framed.ServerStream]struct{}{},
	}
}

// close closes all connections and waits for their handlers.
func (f *frames) close() {
	f.mu.Lock()
	f.closed = true
	for stream := range f.open {
		stream.Close() // its handler gets the error
	}
	f.mu.Unlock()
	f.serves.Wait()
}

// wait waits until all streams have ended, or ctx.
func (f *frames) wait(ctx context.Context) {
	done := make(chan struct{})
	go func() { f.serves.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// accept begins to serve a connection, whose deadline is set. After an error the connection is still
// the caller's.
func (f *frames) accept(conn net.Conn, auth credentials.AuthInfo) error {
	ctx := peer.NewContext(context.Background(), &peer.Peer{Addr: conn.RemoteAddr(), LocalAddr: conn.LocalAddr(), AuthInfo: auth})
	stream, err := framed.Accept(ctx, conn, framed.ServerOptions{
		MessageMax: convert.RequestMessageBytesMax, Room: f.roomFor(conn.RemoteAddr().String()),
		KeepaliveEvery: keepaliveEvery, KeepaliveTimeout: keepaliveTimeout,
	})
	if err != nil {
		return err //nolint:wrapcheck // says what is wrong
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		stream.Close()
		return rpc.ErrServerStopped
	}
	f.open[stream] = struct{}{}
	f.serves.Go(func() {
		defer func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			delete(f.open, stream)
		}()
		stream.End(f.serve(framedStream{stream}))
	})
	return nil
}

// roomFor returns the room for the long messages of a client.
func (f *frames) roomFor(remote string) framed.Room {
	if f.bytes == nil {
		return nil
	}
	caller := budget.Caller(remote)
	return func(ctx context.Context, n int) (func(), error) {
		ctx, cancel := context.WithTimeout(ctx, roomWait)
		defer cancel()
		if err := f.bytes.Take(ctx, caller, int64(n)); err != nil {
			return nil, statusOf(overloaded())
		}
		return func() { f.bytes.Give(caller, int64(n)) }, nil
	}
}

// serve serves one stream until it ends.
func (f *frames) serve(stream framedStream) error {
	method := stream.Method()
	serve := f.handlers[method]
	if serve == nil {
		return status.Errorf(codes.Unimplemented, "no frames are exchanged for %q: call it over gRPC", method)
	}
	if f.intercept == nil {
		return serve(stream)
	}
	info := &rpc.StreamServerInfo{FullMethod: method, IsClientStream: true, IsServerStream: true}
	return f.intercept(nil, stream, info, func(_ any, s rpc.ServerStream) error { return serve(s) })
}

// framedStream is a stream of frames as the interceptors and handlers of gRPC use it.
type framedStream struct{ *framed.ServerStream }

// SendMsg sends a message. What room has counted for it returns at once, because it was written.
func (s framedStream) SendMsg(m any) error {
	c, ok := m.(*counted)
	if !ok {
		return s.ServerStream.SendMsg(m)
	}
	defer c.conn.release(c.n)
	return s.ServerStream.SendMsg(c.message)
}

// RecvMsg receives a message. A malformed one is invalid.
func (s framedStream) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	var malformed *framed.MalformedError
	if errors.As(err, &malformed) {
		return statusOf(agent.Invalid("message", "the message is malformed: %v", malformed))
	}
	return err //nolint:wrapcheck // io.EOF at the end
}

// port are the credentials of a gRPC server whose port takes frames too. They hand the connections
// that begin with frames to frames, after the handshake of inner.
type port struct {
	credentials.TransportCredentials
	frames *frames
}

// ServerHandshake implements credentials.TransportCredentials. gRPC sets a deadline
// before it, and clears it afterwards.
func (p port) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, auth, err := p.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		return conn, auth, err //nolint:wrapcheck // gRPC looks at it
	}
	peeked, err := framed.Peek(conn)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // gRPC looks at it
	}
	if !peeked.Framed {
		return peeked, auth, nil
	}
	if err := p.frames.accept(peeked, auth); err != nil {
		return nil, nil, err
	}
	return nil, nil, credentials.ErrConnDispatched
}

// Clone implements credentials.TransportCredentials.
func (p port) Clone() credentials.TransportCredentials {
	return port{p.TransportCredentials.Clone(), p.frames}
}
