package framed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"dormouse/proto/codec"
	framepb "dormouse/proto/frame"
)

// lingerMax bounds how long End waits for the client to close its side.
const lingerMax = 500 * time.Millisecond

// Peeked is a connection of which the first bytes were looked at.
type Peeked struct {
	net.Conn
	in     *bufio.Reader
	Framed bool // it begins with Preface
}

// Peek looks at the first bytes of a connection, until there are enough of them or its deadline.
func Peek(conn net.Conn) (*Peeked, error) {
	p := &Peeked{Conn: conn, in: bufio.NewReaderSize(conn, len(Preface))}
	for n := 1; n <= len(Preface); n++ {
		got, err := p.in.Peek(n)
		if err != nil {
			return nil, err //nolint:wrapcheck // the connection's own
		}
		if string(got) != Preface[:n] {
			return p, nil
		}
	}
	p.Framed = true
	return p, nil
}

// Read implements net.Conn.
func (p *Peeked) Read(b []byte) (int, error) {
	if p.in.Buffered() > 0 {
		return p.in.Read(b) //nolint:wrapcheck // the connection's own
	}
	return p.Conn.Read(b) //nolint:wrapcheck // the connection's own
}

// ServerOptions configure the streams of a server.
type ServerOptions struct {
	MessageMax int  // bytes of one message that a client sends
	Room       Room // nil means that there is room for each message

	// The connection is closed if the client has sent nothing for KeepaliveEvery and answers no ping
	// within KeepaliveTimeout. 0 means that no pings are sent.
	KeepaliveEvery, KeepaliveTimeout time.Duration
}

// ServerStream is a server's side of a stream. One goroutine may send while another receives.
type ServerStream struct {
	frames  *frames
	method  string
	ctx     context.Context //nolint:containedctx // the stream's, as grpc.ServerStream has it
	cancel  context.CancelFunc
	reading chan struct{} // capacity 1: held by who reads

	mu      sync.Mutex
	begun   bool        // guarded by mu; the head was sent
	header  metadata.MD // guarded by mu
	trailer metadata.MD // guarded by mu
}

// Accept reads the head of a stream on a new connection, which then belongs to the stream; if Accept
// fails the connection is still the caller's. Set a deadline before, and clear it afterwards. The
// stream's context has the client's metadata, and ends with the connection or with End.
func Accept(ctx context.Context, conn net.Conn, o ServerOptions) (*ServerStream, error) {
	s := &ServerStream{frames: newFrames(conn, o.MessageMax), reading: make(chan struct{}, 1)}
	head, err := s.accept()
	if err != nil {
		return nil, fmt.Errorf("accept a stream: %w", err)
	}
	s.method = head.GetMethod()
	s.ctx, s.cancel = context.WithCancel(metadata.NewIncomingContext(ctx, metadataOf(head.GetFields())))
	if o.Room != nil { // a head needs none
		s.frames.room = func(n int) (func(), error) { return o.Room(s.ctx, n) }
	}
	if o.KeepaliveEvery > 0 {
		go s.frames.keepAlive(o.KeepaliveEvery, o.KeepaliveTimeout, s.ctx.Done())
	}
	return s, nil
}

func (s *ServerStream) accept() (*framepb.Head, error) {
	if ok, err := s.frames.preface(); err != nil || !ok {
		return nil, errors.Join(errors.New("it does not begin as it should"), err)
	}
	if _, err := s.frames.conn.Write([]byte(Preface)); err != nil {
		return nil, err //nolint:wrapcheck // the connection's own
	}
	k, payload, err := s.frames.next()
	if err != nil {
		return nil, err
	}
	defer s.frames.drop()
	if k != kindHead {
		return nil, fmt.Errorf("its first frame is of kind %d, not a head", k)
	}
	head := &framepb.Head{}
	if err := decode(payload, head); err != nil {
		return nil, err
	}
	return head, nil
}

// Method returns the full name of the method that the client called.
func (s *ServerStream) Method() string { return s.method }

// Context implements grpc.ServerStream.
func (s *ServerStream) Context() context.Context { return s.ctx }

// SetHeader implements grpc.ServerStream.
func (s *ServerStream) SetHeader(md metadata.MD) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun {
		return status.Error(codes.Internal, "the head was sent already")
	}
	s.header = metadata.Join(s.header, md)
	return nil
}

// SendHeader implements grpc.ServerStream.
func (s *ServerStream) SendHeader(md metadata.MD) error {
	if err := s.SetHeader(md); err != nil {
		return err
	}
	return s.begin()
}

// begin sends the head, unless it was sent.
func (s *ServerStream) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun {
		return nil
	}
	s.begun = true
	return s.frames.write(kindHead, &framepb.Head{Fields: fieldsOf(s.header)}, false)
}

// SetTrailer implements grpc.ServerStream.
func (s *ServerStream) SetTrailer(md metadata.MD) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trailer = metadata.Join(s.trailer, md)
}

// SendMsg implements grpc.ServerStream. It returns once the message is with the operating system.
func (s *ServerStream) SendMsg(m any) error {
	if err := s.begin(); err != nil {
		return s.broken(err)
	}
	if err := send(s.frames, m); err != nil {
		return s.broken(err)
	}
	return nil
}

// RecvMsg implements grpc.ServerStream. It returns io.EOF once the client sends no more messages. A
// message that cannot be decoded is an error of *MalformedError; the stream goes on. After End it
// returns an error of codes.Canceled.
func (s *ServerStream) RecvMsg(m any) error {
	select {
	case s.reading <- struct{}{}:
	case <-s.ctx.Done(): // End may read now, to the end of the connection
		return status.FromContextError(s.ctx.Err()).Err()
	}
	defer func() { <-s.reading }()
	for {
		k, payload, err := s.frames.next()
		var full *roomError
		switch {
		case errors.As(err, &full):
			return full.error
		case err != nil:
			return s.broken(err)
		}
		switch k {
		case kindMessage:
			err := decode(payload, m)
			s.frames.drop()
			if err != nil {
				return &MalformedError{err}
			}
			return nil
		case kindClose:
			return io.EOF
		case kindPing:
			if err := s.frames.write(kindPong, nil, false); err != nil {
				return s.broken(err)
			}
		case kindPong:
		case kindHead, kindEnd:
			fallthrough
		default:
			return status.Errorf(codes.InvalidArgument, "a frame of kind %d is not expected here", k)
		}
	}
}

// MalformedError says that a client sent a message that cannot be decoded.
type MalformedError struct{ err error }

// Error implements error.
func (e *MalformedError) Error() string { return e.err.Error() }

// Unwrap returns what is wrong.
func (e *MalformedError) Unwrap() error { return e.err }

// broken ends the stream's context and returns the error for its handler.
func (s *ServerStream) broken(err error) error {
	s.cancel()
	return status.Errorf(codes.Canceled, "the connection broke: %v", err)
}

// End sends the status of err and the trailer, waits a moment for the client to close, so that it
// reads them, and closes the connection. Nothing may be sent any more.
func (s *ServerStream) End(err error) {
	defer s.Close()
	if s.begin() != nil {
		return
	}
	s.mu.Lock()
	trailer := s.trailer
	s.mu.Unlock()
	end, err := endOf(err, trailer)
	if err != nil || s.frames.write(kindEnd, end, false) != nil {
		return
	}
	s.cancel()
	late := time.AfterFunc(lingerMax, s.Close)
	defer late.Stop()
	s.reading <- struct{}{} // a RecvMsg that waits ends with the connection too
	_, _ = io.Copy(io.Discard, s.frames.conn)
}

// Close ends the stream without a status.
func (s *ServerStream) Close() {
	s.cancel()
	_ = s.frames.conn.Close() // it may be closed already
}

// send sends a message.
func send(f *frames, m any) error {
	message, ok := m.(codec.Message)
	if !ok {
		return status.Errorf(codes.Internal, "a %T has no generated code", m)
	}
	return f.write(kindMessage, message, false)
}
