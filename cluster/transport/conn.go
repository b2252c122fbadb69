package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster/raftrpc"
)

const (
	// reachMax bounds the attempts to reach another node's Raft, and so how long
	// Raft's calls to a node that is down linger: with an election every second
	// or two, about 20 for each node.
	reachMax = 30 * time.Second
	// RequestTimeout bounds one request to another node.
	RequestTimeout = 2 * time.Second
	// RaftDialInterval is the time between two attempts to reach another node's
	// Raft.
	RaftDialInterval = 100 * time.Millisecond
)

// conn is a connection that its stream keeps track of.
type conn struct {
	net.Conn
	stream *Stream
	peer   Identity
	// encoding is that of Raft's calls, if the connection is for Raft.
	encoding raftrpc.Encoding
	dialer   bool // counts in stream.dialers; guarded by stream.mu
	once     sync.Once
}

// noteDialer counts an accepted connection for Raft until it is closed.
func (c *conn) noteDialer() {
	c.stream.mu.Lock()
	defer c.stream.mu.Unlock()
	if _, open := c.stream.conns[c]; open {
		c.dialer = true
		c.stream.dialers[c.peer.Node]++
	}
}

// Close closes the connection.
func (c *conn) Close() error {
	c.once.Do(func() {
		if c.forget() {
			c.stream.o.OnClosed(c.peer)
		}
	})
	return c.Conn.Close()
}

// forget removes the connection from the stream, and reports whether it was the last one for
// Raft that the peer had made while the stream is open.
func (c *conn) forget() (last bool) {
	s := c.stream
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if !c.dialer {
		return false
	}
	if s.dialers[c.peer.Node]--; s.dialers[c.peer.Node] > 0 {
		return false
	}
	delete(s.dialers, c.peer.Node)
	return !s.closed
}

// TCP returns the TCP connection that all bytes go to as they are, or nil.
func (c *conn) TCP() *net.TCPConn {
	t, _ := c.Conn.(*net.TCPConn) // a TLS connection is none
	return t
}

// caller returns a short text that identifies the peer in log lines.
func (c *conn) caller() string {
	return hostOf(c.RemoteAddr()) + " " + c.peer.Node
}

// address is an address as the operator wrote it.
type address string

func (address) Network() string  { return "dormouse" }
func (a address) String() string { return string(a) }

// incoming is a net.Listener of the connections of one kind.
type incoming struct {
	stream *Stream
	conns  chan net.Conn
}

// Accept waits for a connection whose handshake is complete.
func (l *incoming) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.stream.done:
		return nil, net.ErrClosed
	}
}

// Close does nothing: the listener ends with its stream.
func (l *incoming) Close() error { return nil }

// Addr returns the address that others reach this node at.
func (l *incoming) Addr() net.Addr { return l.stream.addr }

// raftLayer implements raftrpc.Layer.
type raftLayer struct{ *incoming }

// Accept waits for a connection of another node's Raft.
func (l raftLayer) Accept() (net.Conn, raftrpc.Encoding, error) {
	return encoded(l.incoming.Accept())
}

// Dial connects to another node's Raft. It keeps trying for reachMax, so that it
// finds a node that comes back at once. Raft itself waits up to 10 s after
// failures, and fails at once if a connection is refused. Dial backs off from a
// node that answers and refuses this node.
func (l raftLayer) Dial(addr raft.ServerAddress) (net.Conn, raftrpc.Encoding, error) {
	return encoded(l.dial(addr))
}

// encoded returns c with the encoding of its calls.
func encoded(c net.Conn, err error) (net.Conn, raftrpc.Encoding, error) {
	if t, ok := c.(*conn); ok {
		return c, t.encoding, err
	}
	return c, raftrpc.Msgpack, err
}

func (l raftLayer) dial(addr raft.ServerAddress) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.stream.dialing, reachMax)
	defer cancel()
	err := fmt.Errorf("dial %s: %w: it refused this node a moment ago", addr, ErrHandshake)
	for {
		wait := l.stream.refusals.wait(string(addr), time.Now())
		if wait == 0 {
			var c net.Conn
			c, err = l.stream.dial(ctx, string(addr), kindRaft)
			if err == nil || errors.Is(err, ErrRemoved) || errors.Is(err, ErrOtherCluster) {
				return c, err
			}
			wait = RaftDialInterval
		}
		again := time.NewTimer(wait)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return nil, err
		}
	}
}

// Close closes the stream: Raft's transport owns it.
func (l raftLayer) Close() error { return l.stream.Close() }

// hostOf returns the host of an address.
func hostOf(addr net.Addr) string {
	host, _, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	return host
}
