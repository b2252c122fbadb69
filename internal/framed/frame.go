package framed

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/proto/codec"
)

// Preface begins each direction of a connection. HTTP/2 begins with other bytes.
const Preface = "DORM/1\r\n"

// kind is the kind of a frame. Its values are part of the wire format.
type kind byte

const (
	kindHead kind = iota + 1
	kindMessage
	kindClose
	kindEnd
	kindPing
	kindPong
)

const (
	headerBytes  = 5
	headBytesMax = 64 << 10 // of a head and of an end
	readBuffer   = 64 << 10
	keptBytesMax = 1 << 20 // a larger buffer is not kept for the next message
	firstPart    = 64 << 10
)

// errTooLarge says that a peer sent a frame past the limit of its kind.
var errTooLarge = errors.New("the frame is too large")

// frames reads and writes the frames of one connection. One goroutine reads at a time; any may
// write.
type frames struct {
	conn       net.Conn
	messageMax int // bytes of one message
	in         *bufio.Reader
	unread     int    // bytes of in that the last payload shares
	large      []byte // the last payload that was longer than in
	heard      atomic.Bool

	mu     sync.Mutex // held while a frame is written
	failed error      // guarded by mu; a frame may have been written in part
}

func newFrames(conn net.Conn, messageMax int) *frames {
	f := &frames{conn: conn, messageMax: messageMax}
	f.in = bufio.NewReaderSize(listening{conn, &f.heard}, readBuffer)
	return f
}

// listening is a reader that notes that something came.
type listening struct {
	io.Reader
	heard *atomic.Bool
}

// Read implements io.Reader.
func (l listening) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	if n > 0 {
		l.heard.Store(true)
	}
	return n, err //nolint:wrapcheck // the connection's own
}

// preface reads the peer's preface; ok is false if it sent something else.
func (f *frames) preface() (ok bool, err error) {
	got, err := f.in.Peek(len(Preface))
	if err != nil {
		return false, err //nolint:wrapcheck // the connection's own
	}
	_, _ = f.in.Discard(len(Preface))
	return string(got) == Preface, nil
}

// next returns the next frame. Its payload is valid until the following call. Between two frames the
// end of the connection is io.EOF.
func (f *frames) next() (kind, []byte, error) {
	_, _ = f.in.Discard(f.unread) // it was peeked
	f.unread = 0
	header, err := f.in.Peek(headerBytes)
	if err != nil {
		if len(header) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err //nolint:wrapcheck // the connection's own
	}
	k, n := kind(header[0]), int(binary.BigEndian.Uint32(header[1:]))
	_, _ = f.in.Discard(headerBytes)
	if most := f.payloadMax(k); n > most {
		return 0, nil, fmt.Errorf("%w: kind %d, %d bytes, at most %d", errTooLarge, k, n, most)
	}
	if n > f.in.Size() {
		payload, err := f.readLarge(n)
		return k, payload, err
	}
	payload, err := f.in.Peek(n)
	if err != nil {
		return 0, nil, unexpected(err)
	}
	f.unread = n
	return k, payload, nil
}

func (f *frames) payloadMax(k kind) int {
	switch k {
	case kindMessage:
		return f.messageMax
	case kindHead, kindEnd:
		return headBytesMax
	case kindClose, kindPing, kindPong:
	}
	return 0
}

// readLarge reads a payload of n bytes. Its memory grows with what has come, not with what the peer
// has announced.
func (f *frames) readLarge(n int) ([]byte, error) {
	if cap(f.large) > keptBytesMax {
		f.large = nil
	}
	for have := 0; have < n; {
		upTo := min(n, max(2*have, firstPart, cap(f.large)))
		if upTo > cap(f.large) {
			grown := make([]byte, upTo)
			copy(grown, f.large[:have])
			f.large = grown
		}
		f.large = f.large[:upTo]
		if _, err := io.ReadFull(f.in, f.large[have:]); err != nil {
			return nil, unexpected(err)
		}
		have = upTo
	}
	return f.large, nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// buffers holds the buffers of frames that are being written, of at most keptBytesMax.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// write writes one frame, after the preface if first is set; m may be nil. A message that cannot be
// encoded is an error that leaves the connection as it is.
func (f *frames) write(k kind, m codec.Message, first bool) error {
	begin := 0
	if first {
		begin = len(Preface)
	}
	size := 0
	if m != nil {
		size = m.EncodedSize()
	}
	buffer := buffers.Get().(*[]byte) //nolint:forcetypeassert // see buffers
	defer func() {
		if cap(*buffer) <= keptBytesMax {
			buffers.Put(buffer)
		}
	}()
	if need := begin + headerBytes + size; cap(*buffer) < need {
		*buffer = make([]byte, need)
	} else {
		*buffer = (*buffer)[:need]
	}
	out := *buffer
	copy(out[:begin], Preface)
	out[begin] = byte(k)
	binary.BigEndian.PutUint32(out[begin+1:], uint32(size)) //nolint:gosec // bounded by payloadMax
	if m != nil {
		if err := codec.Encode(m, out[begin+headerBytes:]); err != nil {
			return err //nolint:wrapcheck // names the message
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil {
		// What the peer has sent can still be read.
		_, f.failed = f.conn.Write(out)
	}
	return f.failed //nolint:wrapcheck // the connection's own
}

// keepAlive pings a peer that has sent nothing for every, and closes the connection if nothing comes
// within timeout then, until stop is closed.
func (f *frames) keepAlive(every, timeout time.Duration, stop <-chan struct{}) {
	timer := time.NewTimer(every)
	defer timer.Stop()
	asked := false
	for {
		select {
		case <-timer.C:
		case <-stop:
			return
		}
		switch {
		case f.heard.Swap(false):
			asked = false
			timer.Reset(every)
		case asked:
			_ = f.conn.Close() // the readers and writers get the error
			return
		default:
			asked = true
			f.ping(timeout)
			timer.Reset(timeout)
		}
	}
}

// ping sends a ping, unless a frame is being written: then the peer owes something in any case.
func (f *frames) ping(timeout time.Duration) {
	if !f.mu.TryLock() {
		return
	}
	defer f.mu.Unlock()
	_ = f.conn.SetWriteDeadline(time.Now().Add(timeout)) // fails only for a closed connection
	defer func() { _ = f.conn.SetWriteDeadline(time.Time{}) }()
	if _, f.failed = f.conn.Write([]byte{byte(kindPing), 0, 0, 0, 0}); f.failed != nil {
		_ = f.conn.Close() // it is of no use
	}
}

// decode decodes a message that next returned.
func decode(payload []byte, into any) error {
	m, ok := into.(codec.Message)
	if !ok {
		return fmt.Errorf("a %T has no generated code", into)
	}
	return codec.Decode(m, payload) //nolint:wrapcheck // names the message
}
