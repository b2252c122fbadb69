package grpc

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/internal/budget"
)

const (
	stallMax   = 30 * time.Second // a connection with answers to send, of which the client reads none
	stallCheck = 5 * time.Second
	stallBytes = 64 << 10 // of answers, that the client must read in stallMax
)

// conns are the connections of a server, by remote address.
type conns struct{ byAddr sync.Map } // string → *conn

// get returns a connection; nil if it is not tracked.
func (c *conns) get(remote string) *conn {
	found, _ := c.byAddr.Load(remote)
	known, _ := found.(*conn)
	return known
}

// conn is a connection that knows how many bytes of answers it has to send.
type conn struct {
	net.Conn
	conns   *conns
	key     string
	written atomic.Int64

	mu     sync.Mutex
	held   int64        // guarded by mu; bytes of answers that gRPC has not sent
	pool   *budget.Pool // guarded by mu; from which they are, for caller
	caller string       // guarded by mu
	closed bool         // guarded by mu; nothing is held any more

	// Used only by the goroutine that closes stalled connections.
	mark  int64     // written at since
	since time.Time // when the client last read enough
}

// hold notes that n bytes, which were taken from the pool for a caller, are to be sent. They return
// to the pool with release, or when the connection is closed: gRPC frees nothing then. If c is nil,
// as for connections in memory that share an address, they return at once.
func (c *conn) hold(pool *budget.Pool, caller string, n int64) {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closed {
			c.pool, c.caller = pool, caller
			c.held += n
			return
		}
	}
	pool.Give(caller, n)
}

// release notes that n of the bytes were sent.
func (c *conn) release(n int64) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.held -= n
		c.pool.Give(c.caller, n)
	}
}

// toSend returns the bytes that are to be sent.
func (c *conn) toSend() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err //nolint:wrapcheck // the connection's own
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.conns.byAddr.CompareAndDelete(c.key, c)
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		c.pool.Give(c.caller, c.held)
	}
	c.mu.Unlock()
	return c.Conn.Close() //nolint:wrapcheck // the connection's own
}

// stalled reports whether the client has read too little of its answers for too long.
func (c *conn) stalled(now time.Time) bool {
	if written := c.written.Load(); c.since.IsZero() || c.toSend() == 0 || written-c.mark >= stallBytes {
		c.since, c.mark = now, written
	}
	return now.Sub(c.since) >= stallMax
}

// trackingListener tracks the connections that it accepts.
type trackingListener struct {
	net.Listener
	conns *conns
}

// Accept implements net.Listener.
func (l trackingListener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err //nolint:wrapcheck // gRPC looks at its type
	}
	c := &conn{Conn: accepted, conns: l.conns, key: accepted.RemoteAddr().String()}
	l.conns.byAddr.LoadOrStore(c.key, c) // in memory, connections may share an address
	return c, nil
}

// closeStalled closes stalled connections until ctx ends: their answers would use memory for good.
func (c *conns) closeStalled(ctx context.Context, logger hclog.Logger) {
	ticker := time.NewTicker(stallCheck)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			c.byAddr.Range(func(_, value any) bool {
				if stuck, ok := value.(*conn); ok && stuck.stalled(now) {
					logger.Warn("closed a connection whose client does not read its answers", "from", stuck.key, "bytes", stuck.toSend())
					_ = stuck.Close() // gRPC reports the end to the calls
				}
				return true
			})
		}
	}
}
