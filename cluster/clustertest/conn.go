package clustertest

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// wire carries bytes one way.
type wire struct {
	net      *Network
	from, to string
	news     chan struct{} // capacity 1: something changed for the reader

	mu       sync.Mutex
	queue    []packet  // in order of sending; guarded by mu
	deadline time.Time // of the reader; guarded by mu
	dropped  bool      // the reader has closed its end; guarded by mu
}

// packet is bytes under way; without any, the sender closed its end.
type packet struct {
	data []byte
	at   time.Time // when it arrives, if the link is not cut
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
	_, d := w.net.state(link{w.from, w.to})
	w.mu.Lock()
	at := time.Now().Add(d)
	if n := len(w.queue); n > 0 && w.queue[n-1].at.After(at) {
		at = w.queue[n-1].at // bytes do not overtake each other
	}
	w.queue = append(w.queue, packet{data: data, at: at})
	w.mu.Unlock()
	w.nudge()
}

// receive reads what has arrived into b; d is how long to wait where nothing
// has, 0 for until there is news.
func (w *wire) receive(b []byte) (n int, d time.Duration, err error) {
	cut, _ := w.net.state(link{w.from, w.to})
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	switch {
	case w.dropped:
		return 0, 0, net.ErrClosed
	case !w.deadline.IsZero() && !now.Before(w.deadline):
		return 0, 0, os.ErrDeadlineExceeded
	}
	if !w.deadline.IsZero() {
		d = w.deadline.Sub(now)
	}
	if len(w.queue) == 0 || cut {
		return 0, d, nil
	}
	head := &w.queue[0]
	if wait := head.at.Sub(now); wait > 0 {
		if d == 0 || wait < d {
			d = wait
		}
		return 0, d, nil
	}
	if len(head.data) == 0 {
		return 0, 0, io.EOF
	}
	n = copy(b, head.data)
	if head.data = head.data[n:]; len(head.data) == 0 {
		w.queue = w.queue[1:]
	}
	return n, 0, nil
}

// conn is one end of a connection.
type conn struct {
	net           *Network
	in, out       *wire
	local, remote net.Addr

	reading sync.Mutex

	mu            sync.Mutex
	closed        bool      // guarded by mu
	writeDeadline time.Time // guarded by mu
}

func (c *conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	for {
		n, d, err := c.in.receive(b)
		if n > 0 || err != nil {
			return n, err
		}
		c.wait(d)
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
	if gone {
		if cut, _ := c.net.state(link{c.out.from, c.out.to}); !cut {
			return 0, io.ErrClosedPipe // a reset, as from a host whose process is gone
		}
	}
	c.out.send(append([]byte(nil), b...))
	return len(b), nil
}

func (c *conn) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	c.mu.Unlock()
	c.out.send(nil)
	c.in.mu.Lock()
	c.in.dropped = true
	c.in.queue = nil
	c.in.mu.Unlock()
	c.in.nudge()
	c.net.mu.Lock()
	delete(c.net.conns, c)
	c.net.mu.Unlock()
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

func (c *conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.mu.Lock()
	c.in.deadline = t
	c.in.mu.Unlock()
	c.in.nudge()
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	c.writeDeadline = t
	c.mu.Unlock()
	return nil
}
