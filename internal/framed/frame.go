package framed

import (
	"bufio"
	"context"
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
	partBytesMax = 64 << 10 // of a long message that is written at once
	slowMax      = 10 * time.Second

	// reassureEvery is less than any timeout of a ping.
	reassureEvery = 2 * time.Second
)

// errTooLarge says that a peer sent a frame past the limit of its kind.
var errTooLarge = errors.New("the frame is too large")

// frames reads and writes the frames of one connection. One goroutine reads at a time; any may
// write.
type frames struct {
	conn       net.Conn
	messageMax int                                  // bytes of one message
	room       func(n int) (give func(), err error) // nil means that there is room for each message
	in         *bufio.Reader
	unread     int     // bytes of in that the last payload shares
	large      *[]byte // the last payload, if it was longer than in
	give       func()  // gives back the room of large
	arriving   bool    // a long payload is being read
	heard      atomic.Bool
	opened     time.Time
	moved      atomic.Int64 // when the last part of a long payload came or went, in ns since opened
	owed       atomic.Int64 // until when a long message may travel, in ns since opened; see owe

	mu     sync.Mutex // held while a frame is written
	failed error      // guarded by mu; a frame may have been written in part
}

// Room waits until there is room for a message of n bytes that is about to be read, and returns how
// to give it back. It waits no longer than until ctx ends, which is the stream's. It is asked for
// messages of more than 64 KiB. Its error ends the stream.
type Room func(ctx context.Context, n int) (give func(), err error)

func newFrames(conn net.Conn, messageMax int) *frames {
	f := &frames{conn: conn, messageMax: messageMax, opened: time.Now()}
	f.in = bufio.NewReaderSize(listening{f}, readBuffer)
	return f
}

// listening reads from the connection, and notes that something came.
type listening struct{ frames *frames }

// Read implements io.Reader.
func (l listening) Read(b []byte) (int, error) {
	n, err := l.frames.conn.Read(b)
	if n > 0 {
		l.frames.heard.Store(true)
	}
	if n > 0 && l.frames.arriving {
		l.frames.move()
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

// next returns the next frame. Its payload is valid until drop, which must be called before the
// following call. Between two frames the end of the connection is io.EOF.
func (f *frames) next() (kind, []byte, error) {
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
		if err := f.readLarge(n); err != nil {
			f.drop()
			return 0, nil, err
		}
		return k, *f.large, nil
	}
	payload, err := f.in.Peek(n)
	if err != nil {
		return 0, nil, unexpected(err)
	}
	f.unread = n
	return k, payload, nil
}

// drop ends the use of the last payload. A stream that waits for a frame holds no more memory than
// the buffer of its connection.
func (f *frames) drop() {
	_, _ = f.in.Discard(f.unread) // it was peeked
	f.unread = 0
	if f.large != nil {
		recycle(f.large)
		f.large = nil
	}
	if f.give != nil {
		f.give()
		f.give = nil
	}
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

// travelMax is how long a message of n bytes may travel: slowMax, and a second more for each 64 KiB.
func travelMax(n int) time.Duration { return slowMax + time.Duration(n/(64<<10))*time.Second }

// readLarge reads a payload of n bytes, for which the peer has travelMax. Its memory grows with what
// has come, not with what the peer has announced.
func (f *frames) readLarge(n int) (err error) {
	if f.room != nil {
		if f.give, err = f.waitForRoom(n); err != nil {
			return &roomError{err}
		}
	}
	// Not a deadline of the connection: gRPC, which accepted it, clears that once, at any time.
	late := time.AfterFunc(travelMax(n), func() { _ = f.conn.Close() })
	defer late.Stop()
	f.arriving = true
	defer func() { f.arriving = false }()
	f.large = buffers.Get().(*[]byte) //nolint:forcetypeassert // see buffers
	for have := 0; have < n; {
		upTo := min(n, max(2*have, firstPart, cap(*f.large)))
		if upTo > cap(*f.large) {
			grown := make([]byte, upTo)
			copy(grown, (*f.large)[:have])
			*f.large = grown
		}
		*f.large = (*f.large)[:upTo]
		if _, err := io.ReadFull(f.in, (*f.large)[have:]); err != nil {
			return unexpected(err)
		}
		have = upTo
	}
	return nil
}

// waitForRoom waits for room for n bytes. It reads no pings meanwhile, so it sends pongs every
// reassureEvery: the peer must not take the connection for dead.
func (f *frames) waitForRoom(n int) (give func(), err error) {
	waited := make(chan struct{})
	defer close(waited)
	long := time.AfterFunc(reassureEvery, func() {
		for f.write(kindPong, nil, false) == nil { // the reader gets the error too
			select {
			case <-time.After(reassureEvery):
			case <-waited:
				return
			}
		}
	})
	defer long.Stop()
	return f.room(n)
}

// roomError says that there is no room for a message.
type roomError struct{ error }

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// buffers holds unused buffers of at most keptBytesMax.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

func recycle(buffer *[]byte) {
	if cap(*buffer) <= keptBytesMax {
		buffers.Put(buffer)
	}
}

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
	defer recycle(buffer)
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
	if size > f.in.Size() {
		f.writeLarge(out, size)
	} else if f.failed == nil {
		// What the peer has sent can still be read.
		_, f.failed = f.conn.Write(out)
	}
	return f.failed //nolint:wrapcheck // the connection's own
}

// writeLarge writes a frame with a long payload of n bytes. f.mu must be held.
func (f *frames) writeLarge(out []byte, n int) {
	f.owe(n)
	for len(out) > 0 && f.failed == nil {
		part := out[:min(len(out), partBytesMax)]
		out = out[len(part):]
		if _, f.failed = f.conn.Write(part); f.failed == nil {
			f.move()
		}
	}
}

// move notes that a part of a long payload came or went.
func (f *frames) move() { f.moved.Store(int64(time.Since(f.opened))) }

// owe gives the peer the time that a message of n bytes may travel. Until it has the message, it can
// neither read a ping nor has it anything to answer. f.mu must be held.
func (f *frames) owe(n int) {
	f.owed.Store(max(f.owed.Load(), int64(time.Since(f.opened)+travelMax(n))))
}

// keepAlive pings a peer that has sent nothing for every, until stop is closed. It closes the connection
// if nothing comes within timeout, and no long message to the peer may still travel; see owe.
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
		case asked && int64(time.Since(f.opened)) < f.owed.Load():
			f.ping(timeout) // the one before may not have been sent
			timer.Reset(timeout)
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

// ping sends a ping, unless a frame is being written: the next one comes after it.
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
