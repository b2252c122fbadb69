package framed_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"dormouse/internal/framed"
	apipb "dormouse/proto/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const method = "/test/Exchange"

// pipe returns both ends of a connection over loopback.
func pipe(t *testing.T) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a listener's
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, _ := l.Accept()
		accepted <- conn
	}()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server = <-accepted; server == nil {
		t.Fatal("nothing was accepted")
	}
	t.Cleanup(func() {
		_ = client.Close() // they may be closed already
		_ = server.Close()
	})
	return client, server
}

// stream opens a stream whose server handles it; done is closed at its end.
func stream(t *testing.T, o framed.ClientOptions, so framed.ServerOptions, handle func(*framed.ServerStream) error) (s *framed.ClientStream, done <-chan struct{}) {
	t.Helper()
	client, server := pipe(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		accepted, err := framed.Accept(context.Background(), server, so)
		if err != nil {
			t.Error(err)
			_ = server.Close()
			return
		}
		accepted.End(handle(accepted))
	}()
	o.Method = method
	ctx, cancel := context.WithCancel(context.Background())
	s, err := framed.Open(ctx, client, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); <-ended })
	return s, ended
}

const most = 4 << 20

var limits = framed.ServerOptions{MessageMax: most}

func calls(ids ...uint64) *apipb.Calls {
	m := &apipb.Calls{}
	for _, id := range ids {
		m.Calls = append(m.Calls, &apipb.Call{Id: id})
	}
	return m
}

// large returns a message of more than n bytes.
func large(n int) *apipb.Calls {
	return &apipb.Calls{Calls: []*apipb.Call{{Id: 1, Traceparent: strings.Repeat("x", n)}}}
}

func TestMessagesTravelBothWays(t *testing.T) {
	s, _ := stream(t, framed.ClientOptions{MessageMax: most, Metadata: metadata.Pairs("a", "1", "a", "2", "b", "3")}, limits, func(s *framed.ServerStream) error {
		sent, _ := metadata.FromIncomingContext(s.Context())
		if s.Method() != method || len(sent.Get("a")) != 2 || sent.Get("a")[1] != "2" || sent.Get("b")[0] != "3" {
			t.Errorf("%s, %v", s.Method(), sent)
		}
		if err := s.SetHeader(metadata.Pairs("c", "4")); err != nil {
			t.Error(err)
		}
		s.SetTrailer(metadata.Pairs("d", "5"))
		for {
			m := &apipb.Calls{}
			if err := s.RecvMsg(m); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if err := s.SendMsg(m); err != nil {
				return err
			}
		}
	})
	sizes := []int{0, 1, 100, 64<<10 - 40, 64 << 10, 64<<10 + 1, 200 << 10, 3 << 20, 10}
	go func() {
		for _, n := range sizes {
			if err := s.SendMsg(large(n)); err != nil {
				t.Error(err)
			}
		}
		if err := s.CloseSend(); err != nil {
			t.Error(err)
		}
	}()
	for _, n := range sizes {
		m := &apipb.Calls{}
		if err := s.RecvMsg(m); err != nil || len(m.GetCalls()) != 1 || len(m.GetCalls()[0].GetTraceparent()) != n {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	if header, err := s.Header(); err != nil || header.Get("c")[0] != "4" {
		t.Errorf("header %v, %v", header, err)
	}
	for range 2 {
		if err := s.RecvMsg(&apipb.Calls{}); !errors.Is(err, io.EOF) {
			t.Errorf("at the end: %v", err)
		}
	}
	if got := s.Trailer().Get("d"); len(got) != 1 || got[0] != "5" {
		t.Errorf("trailer %v", s.Trailer())
	}
	if s.Context().Err() == nil {
		t.Error("the stream's context outlives it")
	}
}

func TestAStatusComesWithItsDetails(t *testing.T) {
	s, _ := stream(t, framed.ClientOptions{MessageMax: most}, limits, func(*framed.ServerStream) error {
		st, err := status.New(codes.Aborted, "no").WithDetails(&apipb.Call{Id: 7})
		if err != nil {
			t.Error(err)
		}
		return st.Err()
	})
	for range 2 {
		err := s.RecvMsg(&apipb.Calls{})
		st := status.Convert(err)
		if st.Code() != codes.Aborted || st.Message() != "no" || len(st.Details()) != 1 {
			t.Fatalf("%v", err)
		}
		if detail, ok := st.Details()[0].(*apipb.Call); !ok || detail.GetId() != 7 {
			t.Errorf("%v", st.Details())
		}
	}
}

// A server that ends a stream without a message, while the client sends, is heard.
func TestAnEndIsHeardBySenders(t *testing.T) {
	s, ended := stream(t, framed.ClientOptions{MessageMax: most}, limits, func(s *framed.ServerStream) error {
		if err := s.RecvMsg(&apipb.Calls{}); err != nil {
			t.Error(err)
		}
		return status.Error(codes.Unavailable, "stopping")
	})
	go func() {
		for s.SendMsg(large(100<<10)) == nil {
		}
	}()
	if err := s.RecvMsg(&apipb.Calls{}); status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "stopping") {
		t.Errorf("%v", err)
	}
	<-ended
}

func TestAnotherProtocolIsTold(t *testing.T) {
	for name, answer := range map[string]string{"HTTP/2": "\x00\x00\x12\x04\x00\x00\x00\x00\x00", "HTTP/1.1": "HTTP/1.1 400 Bad Request\r\n\r\n", "nothing": "", "a part": framed.Preface[:3]} {
		client, server := pipe(t)
		go func() {
			_, _ = server.Write([]byte(answer))
			_ = server.Close()
		}()
		if _, err := framed.Open(t.Context(), client, framed.ClientOptions{Method: method}); !errors.Is(err, framed.ErrOther) {
			t.Errorf("%s: %v", name, err)
		}
	}
	client, _ := pipe(t) // says nothing
	if _, err := framed.Open(t.Context(), client, framed.ClientOptions{Method: method, Patience: time.Millisecond}); !errors.Is(err, framed.ErrOther) {
		t.Errorf("silence: %v", err)
	}
}

func TestPeekTellsTheProtocols(t *testing.T) {
	for sent, want := range map[string]bool{framed.Preface + "x": true, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n": false, "D": false, "GET / HTTP/1.1\r\n": false, "DORM/2\r\n": false} {
		client, server := pipe(t)
		go func() {
			_, _ = client.Write([]byte(sent))
			if len(sent) == 1 {
				_ = client.Close()
			}
		}()
		p, err := framed.Peek(server)
		if len(sent) == 1 {
			if err == nil {
				t.Errorf("%q: no error", sent)
			}
			continue
		}
		if err != nil || p.Framed != want {
			t.Errorf("%q: %+v, %v", sent, p, err)
			continue
		}
		got := make([]byte, len(sent))
		if _, err := io.ReadFull(p, got); err != nil || string(got) != sent {
			t.Errorf("%q, then %q, %v", sent, got, err)
		}
	}
}

// raw opens a stream by hand and sends the bytes of its frames.
func raw(t *testing.T, sent []byte) (server *framed.ServerStream, client net.Conn) {
	t.Helper()
	client, conn := pipe(t)
	go func() {
		_, _ = client.Write(append([]byte(framed.Preface+"\x01\x00\x00\x00\x00"), sent...))
	}()
	server, err := framed.Accept(t.Context(), conn, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server, client
}

func frame(kind byte, length uint32, payload string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, length), payload...)
}

func TestFramesPastTheirLimitsAreRefused(t *testing.T) {
	for name, f := range map[string][]byte{
		"a message": frame(2, most+1, ""), "a ping with a payload": frame(5, 1, "x"), "an unknown kind with a payload": frame(99, 1, "x"),
	} {
		s, _ := raw(t, f)
		if err := s.RecvMsg(&apipb.Calls{}); err == nil || !strings.Contains(err.Error(), "too large") {
			t.Errorf("%s: %v", name, err)
		}
		if s.Context().Err() == nil {
			t.Errorf("%s: the stream goes on", name)
		}
	}
	for name, f := range map[string][]byte{"a second head": frame(1, 0, ""), "an end": frame(4, 0, ""), "an unknown kind": frame(99, 0, "")} {
		s, _ := raw(t, f)
		if err := s.RecvMsg(&apipb.Calls{}); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A peer that announces much and sends little gets memory for what it sends.
func TestMemoryGrowsWithWhatComes(t *testing.T) {
	s, client := raw(t, frame(2, most, strings.Repeat("\x00", 70<<10)))
	go func() {
		time.Sleep(50 * time.Millisecond) // what was sent is read meanwhile
		_ = client.Close()
	}()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := s.RecvMsg(&apipb.Calls{}); err == nil {
		t.Fatal("half a message is taken for whole")
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes were allocated for 70 KiB of %d announced", grown, most)
	}
}

// A long message needs room while it is received, and has bounded time to come.
func TestALongMessageTakesRoomUntilItIsReadSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, conn := net.Pipe()
		var held atomic.Int64
		room := func(_ context.Context, n int) (func(), error) {
			held.Add(int64(n))
			return func() { held.Add(-int64(n)) }, nil
		}
		accepted := make(chan *framed.ServerStream, 1)
		go func() {
			s, err := framed.Accept(context.Background(), conn, framed.ServerOptions{MessageMax: most, Room: room})
			if err != nil {
				t.Error(err)
			}
			accepted <- s
		}()
		s, err := framed.Open(t.Context(), client, framed.ClientOptions{Method: method, MessageMax: most})
		if err != nil {
			t.Fatal(err)
		}
		server := <-accepted
		defer server.Close()
		go func() {
			if err := s.SendMsg(large(200 << 10)); err != nil {
				t.Error(err)
			}
			_, _ = client.Write(frame(2, 1<<20, strings.Repeat("\x00", 100<<10))) // and no more
		}()
		if err := server.RecvMsg(&apipb.Calls{}); err != nil || held.Load() != 0 {
			t.Fatalf("%v, %d bytes are held", err, held.Load())
		}
		received := make(chan error, 1)
		began := time.Now()
		go func() { received <- server.RecvMsg(&apipb.Calls{}) }()
		synctest.Wait()
		if held.Load() != 1<<20 {
			t.Errorf("%d bytes are held for half a message", held.Load())
		}
		if err := <-received; err == nil || held.Load() != 0 {
			t.Errorf("%v, %d bytes are held", err, held.Load())
		}
		if took := time.Since(began); took != 10*time.Second+16*time.Second {
			t.Errorf("it waited for %v", took)
		}
	})
}

// A message that waits for room does not hold up the end of its stream.
func TestAnEndDoesNotWaitForRoom(t *testing.T) {
	waits := make(chan struct{})
	o := framed.ServerOptions{MessageMax: most, Room: func(ctx context.Context, _ int) (func(), error) {
		close(waits)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	s, ended := stream(t, framed.ClientOptions{MessageMax: most}, o, func(s *framed.ServerStream) error {
		go s.RecvMsg(&apipb.Calls{}) //nolint:errcheck // it ends with the stream
		<-waits
		return status.Error(codes.Unavailable, "stopping")
	})
	if err := s.SendMsg(large(100 << 10)); err != nil {
		t.Fatal(err)
	}
	if err := s.RecvMsg(&apipb.Calls{}); status.Code(err) != codes.Unavailable {
		t.Errorf("%v", err)
	}
	<-ended
}

// Who receives again after the end of the stream, as a handler's second goroutine may, is told.
func TestNothingIsReceivedAfterTheEnd(t *testing.T) {
	received := make(chan error, 1)
	s, ended := stream(t, framed.ClientOptions{MessageMax: most}, limits, func(s *framed.ServerStream) error {
		go func() {
			<-s.Context().Done()
			received <- s.RecvMsg(&apipb.Calls{})
		}()
		return nil
	})
	if err := s.RecvMsg(&apipb.Calls{}); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
	if err := <-received; status.Code(err) != codes.Canceled {
		t.Errorf("%v", err)
	}
	<-ended
}

// A head may have 64 KiB, and no more.
func TestAHeadIsBounded(t *testing.T) {
	for method, ok := range map[string]bool{strings.Repeat("m", 64<<10-4): true, strings.Repeat("m", 64<<10-3): false} {
		client, conn := pipe(t)
		opened := make(chan error, 1)
		go func() {
			_, err := framed.Open(t.Context(), client, framed.ClientOptions{Method: method})
			opened <- err
		}()
		s, err := framed.Accept(t.Context(), conn, limits)
		if (err == nil) != ok || err == nil && s.Method() != method {
			t.Errorf("a method of %d bytes: %v", len(method), err)
		}
		if s != nil {
			s.Close()
		}
		if err := <-opened; err != nil { // the preface is answered in any case
			t.Error(err)
		}
	}
}

func TestAMessageWithoutRoomEndsItsStream(t *testing.T) {
	full := framed.ServerOptions{MessageMax: most, Room: func(context.Context, int) (func(), error) { return nil, status.Error(codes.ResourceExhausted, "full") }}
	s, _ := stream(t, framed.ClientOptions{MessageMax: most}, full, func(s *framed.ServerStream) error { return s.RecvMsg(&apipb.Calls{}) })
	if err := s.SendMsg(large(100 << 10)); err != nil {
		t.Fatal(err)
	}
	if err := s.RecvMsg(&apipb.Calls{}); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("%v", err)
	}
}

func TestAMalformedMessageIsTold(t *testing.T) {
	good := calls(3)
	size := good.EncodedSize()
	encoded := make([]byte, size)
	good.EncodeBackward(encoded)
	s, _ := raw(t, append(frame(2, 3, "\x0a\xff\xff"), frame(2, uint32(size), string(encoded))...)) //nolint:gosec // a few bytes
	var malformed *framed.MalformedError
	if err := s.RecvMsg(&apipb.Calls{}); !errors.As(err, &malformed) {
		t.Errorf("%v", err)
	}
	m := &apipb.Calls{}
	if err := s.RecvMsg(m); err != nil || len(m.GetCalls()) != 1 || m.GetCalls()[0].GetId() != 3 {
		t.Errorf("the next: %v, %v", m, err)
	}
}

// A peer that vanishes without a word is found by pings, and one that only is idle is not lost.
func TestSilentPeersAreFoundSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		accepted := make(chan *framed.ServerStream, 1)
		go func() {
			s, err := framed.Accept(context.Background(), server, framed.ServerOptions{MessageMax: most, KeepaliveEvery: 30 * time.Second, KeepaliveTimeout: 10 * time.Second})
			if err != nil {
				t.Error(err)
			}
			accepted <- s
		}()
		s, err := framed.Open(t.Context(), client, framed.ClientOptions{Method: method, MessageMax: most, KeepaliveEvery: 10 * time.Second, KeepaliveTimeout: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		theirs := <-accepted
		serves, reads := make(chan error, 1), make(chan error, 1)
		go func() { serves <- theirs.RecvMsg(&apipb.Calls{}) }()
		go func() { reads <- s.RecvMsg(&apipb.Calls{}) }()
		time.Sleep(time.Hour) // idle: both answer pings
		if s.Context().Err() != nil || theirs.Context().Err() != nil {
			t.Fatal("an idle stream was lost")
		}
		if err := s.SendMsg(calls(1)); err != nil {
			t.Fatal(err)
		}
		if err := <-serves; err != nil {
			t.Fatal(err)
		}
		began := time.Now() // the server reads nothing any more, and answers no ping
		if err := <-reads; status.Code(err) != codes.Unavailable {
			t.Errorf("%v", err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
		theirs.Close()
	})
}

// FuzzAServerReads gives a server arbitrary bytes: each stream ends, or its messages are read.
func FuzzAServerReads(f *testing.F) {
	f.Add([]byte(framed.Preface + "\x01\x00\x00\x00\x00" + "\x02\x00\x00\x00\x00\x05\x00\x00\x00\x00\x03\x00\x00\x00\x00"))
	f.Add([]byte(framed.Preface + "\x01\x00\x00\x00\x03\x0a\x01m\x02\x00\x00\x00\x04\x0a\x02\x08\x01"))
	f.Add([]byte("PRI * HTTP/2.0"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		conn := &script{in: bytes.NewReader(sent)}
		s, err := framed.Accept(t.Context(), conn, framed.ServerOptions{MessageMax: 1 << 20})
		if err != nil {
			return
		}
		defer s.Close()
		for {
			var malformed *framed.MalformedError
			if err := s.RecvMsg(&apipb.Calls{}); err != nil && !errors.As(err, &malformed) {
				return
			}
		}
	})
}

// script is a connection that sends given bytes and takes all.
type script struct {
	net.Conn
	in *bytes.Reader
}

func (s *script) Read(b []byte) (int, error)  { return s.in.Read(b) }
func (s *script) Write(b []byte) (int, error) { return len(b), nil }
func (s *script) Close() error                { return nil }
