package listener_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"dormouse/internal/listener"
)

// start returns the address of a limited listener, and its accepted connections.
func start(t *testing.T, total int, room func(<-chan struct{}) bool) (string, <-chan net.Conn, net.Listener) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := listener.Limit(inner, total, room)
	t.Cleanup(func() { _ = l.Close() })
	accepted := make(chan net.Conn, 100)
	go func() {
		defer close(accepted)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	return inner.Addr().String(), accepted, l
}

// dial connects from an address of loopback.
func dial(t *testing.T, from, to string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.DialContext(t.Context(), "tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestOneAddressHasHalfOfTheConnections(t *testing.T) {
	addr, accepted, _ := start(t, 4, nil)
	mine := []net.Conn{dial(t, "127.0.0.1", addr), dial(t, "127.0.0.1", addr)}
	first := <-accepted
	<-accepted
	over := dial(t, "127.0.0.1", addr)
	if _, err := over.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && err == nil {
		t.Errorf("the connection over the share reads %v", err)
	}
	dial(t, "127.0.0.2", addr)
	<-accepted
	_ = mine[0].Close()
	_ = first.Close()
	dial(t, "127.0.0.1", addr)
	<-accepted
	dial(t, "127.0.0.3", addr)
	<-accepted
	dial(t, "127.0.0.4", addr) // all four are in use: it waits
	select {
	case <-accepted:
		t.Error("five connections are open, want at most four")
	case <-time.After(50 * time.Millisecond):
	}
}

func TestAListenerWithoutRoomClosesAtOnce(t *testing.T) {
	_, accepted, l := start(t, 4, func(closed <-chan struct{}) bool { <-closed; return false })
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := <-accepted; ok {
		t.Error("a connection was accepted")
	}
}
