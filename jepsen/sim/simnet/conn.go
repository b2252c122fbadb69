package simnet

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// wire carries bytes one way.
type wire struct {
	net      *Network
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

func newWire(n *Network, from, to string) *wire {
	return &wire{net: n, from: from, to: to, news: make(chan struct{}, 1)}
}

func (w *wire) nudge() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

func (w *wire) send(data []byte) {
	takes := w.net.transit(pair{w.from, w.to})
	w.net.message(w.from, w.to, data, takes)
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
	cut := w.net.isCut(pair{w.from, w.to})
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

// conn is one end of a connection.
type conn struct {
	host          *Host
	in, out       *wire
	local, remote net.Addr

	reading sync.Mutex

	mu            sync.Mutex
	closed        bool      // guarded by mu
	writeDeadline time.Time // guarded by mu
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
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

func (c *conn) wait(d time.Duration) {
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

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
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
	if gone && !c.host.net.isCut(pair{c.out.from, c.out.to}) {
		c.in.mu.Lock()
		c.in.reset = true // the answer to these bytes ends both directions
		c.in.mu.Unlock()
		c.in.nudge()
		return 0, syscall.EPIPE
	}
	c.out.send(append([]byte(nil), b...))
	return len(b), nil
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.end(false)
	return nil
}

// end closes this end. The other one is told, unless silent is set.
func (c *conn) end(silent bool) {
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
	c.host.net.forget(c)
}

// LocalAddr implements net.Conn.
func (c *conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t) // never fails
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.mu.Lock()
	c.in.deadline = t
	c.in.mu.Unlock()
	c.in.nudge()
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeDeadline = t
	return nil
}
