package listener_test

import (
	"net"
	"testing"

	"dormouse/internal/listener"
)

// at is a connection from an address.
type at struct {
	net.Conn
	addr string
}

func (a at) RemoteAddr() net.Addr { return a }
func (at) Network() string        { return "tcp" }
func (a at) String() string       { return a.addr }

// With too many connections, the oldest one of the caller with the most gives way.
func TestTheCallerWithTheMostUnprovedConnectionsGivesWay(t *testing.T) {
	u := listener.NewUnproved(4)
	for _, addr := range []string{"a:1", "b:1", "b:2", "a:2"} {
		if victim := u.Add(at{addr: addr}); victim != nil {
			t.Fatalf("%s gave way", victim.RemoteAddr())
		}
	}
	u.Remove(at{addr: "a:2"})
	if victim := u.Add(at{addr: "c:1"}); victim != nil {
		t.Errorf("%s gave way although one had ended", victim.RemoteAddr())
	}
	if victim := u.Add(at{addr: "c:2"}); victim != (at{addr: "b:1"}) {
		t.Errorf("another connection than the oldest of b gave way: %v", victim)
	}
}
