package framed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	framepb "dormouse/proto/frame"
)

// ErrOther says that the peer does not speak this protocol: it is an older node, or a proxy.
var ErrOther = errors.New("the peer does not answer with frames")

// ClientOptions configure a stream.
type ClientOptions struct {
	Method     string      // gRPC's full name of the method
	Metadata   metadata.MD // sent with the head
	MessageMax int         // bytes of one message that the server sends

	// Patience bounds the wait for the first bytes of the answer; 0 means until the context ends.
	Patience time.Duration

	// The connection is closed if the server has sent nothing for KeepaliveEvery and answers no ping
	// within KeepaliveTimeout. 0 means that no pings are sent.
	KeepaliveEvery, KeepaliveTimeout time.Duration
}

// ClientStream is a client's side of a stream. One goroutine may send while another receives; that
// one also calls Header and Trailer.
type ClientStream struct {
	frames *frames
	ctx    context.Context //nolint:containedctx // the stream's, as grpc.ClientStream has it
	cancel context.CancelFunc

	header  metadata.MD // nil until the head came
	trailer metadata.MD
	over    error // why nothing more is received
}

// Open opens a stream on a new connection, which then belongs to the stream, also if Open fails. The
// stream and its connection end with ctx. If the peer answers with anything but Preface, the error is
// ErrOther, as it is if the connection breaks first; then nothing was done there.
func Open(ctx context.Context, conn net.Conn, o ClientOptions) (*ClientStream, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &ClientStream{frames: newFrames(conn, o.MessageMax), ctx: ctx, cancel: cancel}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	if err := s.begin(o); err != nil {
		cancel()
		return nil, fmt.Errorf("begin a stream: %w", err)
	}
	if o.KeepaliveEvery > 0 {
		go s.frames.keepAlive(o.KeepaliveEvery, o.KeepaliveTimeout, ctx.Done())
	}
	return s, nil
}

// begin sends the head and reads the preface of the answer.
func (s *ClientStream) begin(o ClientOptions) error {
	if o.Patience > 0 {
		if err := s.frames.conn.SetDeadline(time.Now().Add(o.Patience)); err != nil {
			return err //nolint:wrapcheck // the connection's own
		}
	}
	err := s.frames.write(kindHead, &framepb.Head{Method: o.Method, Fields: fieldsOf(o.Metadata)}, true)
	if err == nil {
		var ok bool
		if ok, err = s.frames.preface(); err == nil && !ok {
			return ErrOther
		}
	}
	if err == nil {
		return s.frames.conn.SetDeadline(time.Time{}) //nolint:wrapcheck // the connection's own
	}
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrOther, err)
}

// Context implements grpc.ClientStream. The context ends with the stream.
func (s *ClientStream) Context() context.Context { return s.ctx }

// SendMsg implements grpc.ClientStream. It returns once the message is with the operating system.
func (s *ClientStream) SendMsg(m any) error { return send(s.frames, m) }

// CloseSend implements grpc.ClientStream.
func (s *ClientStream) CloseSend() error { return s.frames.write(kindClose, nil, false) }

// Moved returns when the last part of a message of more than 64 KiB came or went, or the zero time if
// there was none. It may be called concurrently.
func (s *ClientStream) Moved() time.Time {
	if moved := s.frames.moved.Load(); moved != 0 {
		return s.frames.opened.Add(time.Duration(moved))
	}
	return time.Time{}
}

// Header implements grpc.ClientStream: it waits for the server's head.
func (s *ClientStream) Header() (metadata.MD, error) {
	for s.header == nil && s.over == nil {
		k, payload, err := s.next()
		switch {
		case err != nil:
		case k == kindMessage:
			s.end(status.Error(codes.Internal, "the server sent a message before its head"))
		default:
			s.control(k, payload)
		}
		s.frames.drop()
	}
	if s.header == nil {
		return nil, s.over
	}
	return s.header, nil
}

// Trailer implements grpc.ClientStream: the metadata at the end of the stream.
func (s *ClientStream) Trailer() metadata.MD { return s.trailer }

// RecvMsg implements grpc.ClientStream. It returns io.EOF after the last message of a stream that
// ended with success.
func (s *ClientStream) RecvMsg(m any) error {
	for s.over == nil {
		k, payload, err := s.next()
		if err != nil {
			break
		}
		if k == kindMessage {
			err := decode(payload, m)
			s.frames.drop()
			if err != nil {
				s.end(status.Error(codes.Internal, err.Error()))
				break
			}
			return nil
		}
		s.control(k, payload)
		s.frames.drop()
	}
	return s.over
}

func (s *ClientStream) next() (kind, []byte, error) {
	k, payload, err := s.frames.next()
	if err != nil {
		if s.ctx.Err() != nil {
			s.end(status.FromContextError(s.ctx.Err()).Err())
		} else {
			s.end(status.Errorf(codes.Unavailable, "the connection broke: %v", err))
		}
	}
	return k, payload, err
}

// control handles a frame that is not a message.
func (s *ClientStream) control(k kind, payload []byte) {
	switch k {
	case kindHead:
		head := &framepb.Head{}
		if err := decode(payload, head); err != nil {
			s.end(status.Error(codes.Internal, err.Error()))
			return
		}
		s.header = metadataOf(head.GetFields())
	case kindEnd:
		end := &framepb.End{}
		if err := decode(payload, end); err != nil {
			s.end(status.Error(codes.Internal, err.Error()))
			return
		}
		s.trailer = metadataOf(end.GetFields())
		if err := errorOf(end); err != nil {
			s.end(err)
		} else {
			s.end(io.EOF)
		}
	case kindPing:
		_ = s.frames.write(kindPong, nil, false) // if it fails, so does the next read
	case kindPong, kindMessage, kindClose:
	default:
		s.end(status.Errorf(codes.Internal, "the server sent a frame of the unknown kind %d", k))
	}
}

// end ends the stream with err.
func (s *ClientStream) end(err error) {
	if s.over == nil {
		s.over = err
		s.cancel()
	}
}
