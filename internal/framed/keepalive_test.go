package framed_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"dormouse/internal/framed"
	apipb "dormouse/proto/api"
)

// slowly is a connection that takes 32 KiB each half second.
type slowly struct{ net.Conn }

func (s slowly) Read(b []byte) (int, error) {
	time.Sleep(time.Second / 2)
	return s.Conn.Read(b[:min(len(b), 32<<10)])
}

// pinging opens a stream whose client pings, over a connection that the server reads slowly.
func pinging(t *testing.T, o framed.ServerOptions) (*framed.ClientStream, *framed.ServerStream) {
	t.Helper()
	client, server := net.Pipe()
	return opened(t, client, slowly{server}, o, framed.ClientOptions{Method: method, MessageMax: most, KeepaliveEvery: 10 * time.Second, KeepaliveTimeout: 5 * time.Second})
}

// opened opens a stream between two ends of a connection.
func opened(t *testing.T, client, server net.Conn, so framed.ServerOptions, co framed.ClientOptions) (*framed.ClientStream, *framed.ServerStream) {
	t.Helper()
	accepted := make(chan *framed.ServerStream, 1)
	go func() {
		s, err := framed.Accept(context.Background(), server, so)
		if err != nil {
			t.Error(err)
		}
		accepted <- s
	}()
	s, err := framed.Open(t.Context(), client, co)
	if err != nil {
		t.Fatal(err)
	}
	return s, <-accepted
}

// A long message travels longer than a peer may be silent. Nothing is heard of the peer meanwhile.
func TestALongMessageArrivesOverASlowConnectionSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, server := pinging(t, framed.ServerOptions{MessageMax: most})
		defer server.Close()
		received := make(chan error, 1)
		go func() { received <- server.RecvMsg(&apipb.Calls{}) }()
		if err := s.SendMsg(large(3 << 20)); err != nil {
			t.Error(err)
		}
		if err := <-received; err != nil {
			t.Error(err)
		}
	})
}

// trickle is a connection that takes a KiB each second, and whose deadlines others clear.
type trickle struct{ net.Conn }

func (c trickle) Read(b []byte) (int, error) {
	time.Sleep(time.Second)
	_ = c.SetReadDeadline(time.Time{})
	return c.Conn.Read(b[:min(len(b), 1<<10)])
}

// A long message that only trickles in ends within the time that it may travel.
func TestALongMessageThatTricklesEndsSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		s, to := opened(t, client, trickle{server}, framed.ServerOptions{MessageMax: most}, framed.ClientOptions{Method: method, MessageMax: most})
		defer to.Close()
		go func() { _ = s.SendMsg(large(1 << 20)) }()
		began := time.Now()
		if err := to.RecvMsg(&apipb.Calls{}); err == nil {
			t.Error("the message arrived")
		}
		if took := time.Since(began); took > 40*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// A peer that takes nothing of a long message is found within the time that the message may travel.
func TestAPeerThatTakesNoLongMessageIsFoundSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, server := pinging(t, framed.ServerOptions{MessageMax: most})
		defer server.Close()
		began := time.Now()
		if err := s.SendMsg(large(3 << 20)); err == nil {
			t.Error("the message was sent")
		}
		if took := time.Since(began); took < 30*time.Second || took > 80*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// Long messages that have arrived give a peer no time for later ones.
func TestAPeerThatTookManyLongMessagesIsFoundSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, server := pinging(t, framed.ServerOptions{MessageMax: most})
		defer server.Close()
		for range 100 {
			received := make(chan error, 1)
			go func() { received <- errors.Join(server.RecvMsg(&apipb.Calls{}), server.SendMsg(calls(1))) }()
			if err := errors.Join(s.SendMsg(large(100<<10)), s.RecvMsg(&apipb.Calls{}), <-received); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if err := s.SendMsg(large(100 << 10)); err == nil {
			t.Error("the message was sent")
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// A client that waits for room hears of the server, and then what came of it.
func TestAClientHearsThatThereIsNoRoomSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := status.Error(codes.ResourceExhausted, "full")
		s, server := pinging(t, framed.ServerOptions{MessageMax: most, Room: func(context.Context, int) (func(), error) {
			time.Sleep(30 * time.Second)
			return nil, full
		}})
		go func() { server.End(server.RecvMsg(&apipb.Calls{})) }()
		go func() { _ = s.SendMsg(large(100 << 10)) }() // ends with the stream
		if err := s.RecvMsg(&apipb.Calls{}); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("%v", err)
		}
		time.Sleep(time.Minute)
	})
}
