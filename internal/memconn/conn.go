// Package memconn provides connections and listeners in memory, for networks that tests and simulators
// make. A connection is a stream as under TCP: bytes arrive in order, and late if the network says
// so. Nothing here starts a goroutine or touches a socket, so all of it runs in a bubble of
// testing/synctest.
package memconn

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Network decides how bytes travel between hosts. Its methods may be called concurrently.
type Network interface {
	// Send returns how long bytes take from one host to another. It is called once for each write, and
	// with nil for the end of a stream.
	Send(from, to string, data []byte) time.Duration
	// IsCut reports whether the link from one host to another is cut: what is on it waits. When a link
	// changes, call Wake on the connections that are open.
	IsCut(from, to string) bool
	// Forget is called once a connection is closed.
	Forget(c *Conn)
}

// wire carries bytes one way.
type wire struct {
	net      Network
	from, to string
	news     chan struct{} // capacity 1: something changed for the reader

	mu       sync.Mutex
	queue    []packet  // guarded by mu; in the order of sending
	deadline time.Time // guarded by mu; of the reader
	dropped  bool      // guarded by mu; the reader has closed its end
	reset    bool      // guarded by mu; the reader's host knows that the other end is gone
}

// packet is bytes under way. Without any, the sender closed its end.
type packet struct {
	data []byte
	at   time.Time // when it arrives, if the link is not cut then
}

func newWire(n Network, from, to string) *wire {
	return &wire{net: n, from: from, to: to, news: make(chan struct{}, 1)}
}

func (w *wire) nudge() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

func (w *wire) send(data []byte) {
	takes := w.net.Send(w.from, w.to, data)
	w.mu.Lock()
	at := time.Now().Add(takes)
	if n := len(w.queue); n > 0 && w.queue[n-1].at.After(at) {
		at = w.queue[n-1].at // bytes of a stream do not overtake each other
	}
	w.queue = append(w.queue, packet{data: data, at: at})
	w.mu.Unlock()
	w.nudge()
}

// receive reads what has arrived into b. wait is how long to wait where nothing has, 0
// until there is news.
func (w *wire) receive(b []byte) (n int, wait time.Duration, err error) {
	cut := w.net.IsCut(w.from, w.to)
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	switch {
	case w.dropped:
		return 0, 0, net.ErrClosed
	case w.reset:
		return 0, 0, syscall.ECONNRESET
	case !w.deadline.IsZero() && !now.Before(w.deadline):
		return 0, 0, os.ErrDeadlineExceeded
	}
	if !w.deadline.IsZero() {
		wait = w.deadline.Sub(now)
	}
	if len(w.queue) == 0 || cut {
		return 0, wait, nil
	}
	for n < len(b) && len(w.queue) > 0 {
		head := &w.queue[0]
		if left := head.at.Sub(now); left > 0 {
			if n == 0 && (wait == 0 || left < wait) {
				wait = left
			}
			break
		}
		if len(head.data) == 0 {
			if n == 0 {
				return 0, 0, io.EOF
			}
			break
		}
		moved := copy(b[n:], head.data)
		n += moved
		if head.data = head.data[moved:]; len(head.data) == 0 {
			w.queue = w.queue[1:]
		}
	}
	return n, wait, nil
}

// Conn is one end of a connection. It implements net.Conn.
type Conn struct {
	in, out       *wire
	local, remote net.Addr

	reading sync.Mutex

	mu            sync.Mutex
	closed        bool      // guarded by mu
	writeDeadline time.Time // guarded by mu
}

// Pair returns the two ends of a new connection that one host makes to another.
func Pair(n Network, from, to string, local, remote net.Addr) (mine, theirs *Conn) {
	there, back := newWire(n, from, to), newWire(n, to, from)
	return &Conn{in: back, out: there, local: local, remote: remote}, &Conn{in: there, out: back, local: remote, remote: local}
}

// Host returns the host whose end this is.
func (c *Conn) Host() string { return c.out.from }

// Wake makes a read look at the network again.
func (c *Conn) Wake() { c.in.nudge() }

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	for {
		n, wait, err := c.in.receive(b)
		if n > 0 || err != nil {
			return n, err
		}
		c.wait(wait)
	}
}

func (c *Conn) wait(d time.Duration) {
	if d == 0 {
		<-c.in.news
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.in.news:
	case <-t.C:
	}
}

// Write implements net.Conn. If the other end is closed, it fails, and so do reads from then on: as
// when the answer to the bytes is a reset.
func (c *Conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return 0, net.ErrClosed
	case !c.writeDeadline.IsZero() && !time.Now().Before(c.writeDeadline):
		return 0, os.ErrDeadlineExceeded
	case len(b) == 0:
		return 0, nil
	}
	c.out.mu.Lock()
	gone := c.out.dropped
	c.out.mu.Unlock()
	if gone && !c.out.net.IsCut(c.out.from, c.out.to) {
		c.in.mu.Lock()
		c.in.reset = true
		c.in.mu.Unlock()
		c.in.nudge()
		return 0, syscall.EPIPE
	}
	c.out.send(append([]byte(nil), b...))
	return len(b), nil
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.End(false)
	return nil
}

// End closes this end. The other one is told, unless silent is set.
func (c *Conn) End(silent bool) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	c.mu.Unlock()
	if !silent {
		c.out.send(nil)
	}
	c.in.mu.Lock()
	c.in.dropped = true
	c.in.queue = nil
	c.in.mu.Unlock()
	c.in.nudge()
	c.out.net.Forget(c)
}

// Reset ends the connection for this end, as a packet with the flag RST does: what has not been read is
// lost, and reads fail.
func (c *Conn) Reset() {
	c.in.mu.Lock()
	c.in.reset = true
	c.in.queue = nil
	c.in.mu.Unlock()
	c.in.nudge()
}

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t) // never fails
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.in.mu.Lock()
	c.in.deadline = t
	c.in.mu.Unlock()
	c.in.nudge()
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeDeadline = t
	return nil
}
