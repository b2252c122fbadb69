package memconn_test

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/internal/memconn"
)

// network delays each message by a second, and has one link that can be cut.
type network struct {
	cut    atomic.Bool
	closed []*memconn.Conn
}

func (n *network) Send(string, string, []byte) time.Duration { return time.Second }
func (n *network) IsCut(string, string) bool                 { return n.cut.Load() }
func (n *network) Forget(c *memconn.Conn)                    { n.closed = append(n.closed, c) }

type address string

func (address) Network() string  { return "memory" }
func (a address) String() string { return string(a) }

func pair(t *testing.T) (n *network, mine, theirs *memconn.Conn) {
	t.Helper()
	n = &network{}
	mine, theirs = memconn.Pair(n, "a", "b", address("a"), address("b:1"))
	return n, mine, theirs
}

func write(t *testing.T, c *memconn.Conn, text string) {
	t.Helper()
	if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("write: %d, %v", n, err)
	}
}

func TestBytesArriveInOrderAndThenTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, mine, theirs := pair(t)
		began := time.Now()
		write(t, mine, "one ")
		write(t, mine, "two")
		if err := mine.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(theirs)
		if took := time.Since(began); string(got) != "one two" || err != nil || took != time.Second {
			t.Errorf("%q, %v after %v", got, err, took)
		}
		if _, err := mine.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a read of a closed end: %v", err)
		}
		if mine.Host() != "a" || theirs.Host() != "b" || theirs.RemoteAddr() != net.Addr(address("a")) || !slices.Contains(n.closed, mine) {
			t.Errorf("%s, %s, %v, %d closed", mine.Host(), theirs.Host(), theirs.RemoteAddr(), len(n.closed))
		}
	})
}

func TestBytesOnACutLinkWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, mine, theirs := pair(t)
		n.cut.Store(true)
		write(t, mine, "late")
		if err := theirs.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := theirs.Read(make([]byte, 4)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("over a cut link: %v", err)
		}
		if err := theirs.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Minute)
			n.cut.Store(false)
			theirs.Wake()
		}()
		got := make([]byte, 4)
		if _, err := io.ReadFull(theirs, got); err != nil || string(got) != "late" {
			t.Errorf("once the link is healed: %q, %v", got, err)
		}
	})
}

// Who writes to an end that is gone learns it, in both directions.
func TestAResetEndsBothDirections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, mine, theirs := pair(t)
		theirs.End(true)
		if _, err := mine.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write: %v", err)
		}
		if _, err := mine.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read: %v", err)
		}
	})
}

func TestAListenerAcceptsWhatItWasOffered(t *testing.T) {
	_, mine, theirs := pair(t)
	closed := 0
	l := memconn.NewListener(address("b:1"), func() { closed++ })
	if err := l.Offer(theirs); err != nil {
		t.Fatal(err)
	}
	if c, err := l.Accept(); c != net.Conn(theirs) || err != nil {
		t.Errorf("%v, %v", c, err)
	}
	var err error
	for err == nil {
		err = l.Offer(mine)
	}
	if !errors.Is(err, memconn.ErrBacklog) {
		t.Errorf("a full backlog: %v", err)
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) || closed != 1 {
		t.Errorf("after the end: %v, closed %d times", err, closed)
	}
	if _, err := mine.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a connection that was not accepted is open: %v", err)
	}
}
