package jsonhttp

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// node is a server that is called over HTTP/1.1. A call uses an idle connection, or a new one, and
// writes and reads on the caller's goroutine: net/http's client has two goroutines for each
// connection, and takes twice the CPU. There are never more idle connections than callers.
type node struct {
	addr string
	head string // the lines of all requests after the first

	mu     sync.Mutex
	idle   []*line // guarded by mu; the last one was used last
	closed bool    // guarded by mu
}

// line is one connection.
type line struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte // a request
}

func newNode(addr string, header http.Header) *node {
	var head bytes.Buffer
	fmt.Fprintf(&head, "Host: %s\r\n", addr)
	_ = header.Write(&head) // a buffer takes all
	return &node{addr: addr, head: head.String()}
}

// call makes one call, and passes the answer to decode. An answer that is no success does not end the connection.
func (n *node) call(ctx context.Context, method, path string, body []byte, decode func(status int, answer io.Reader) error) error {
	l, err := n.line(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = l.conn.SetDeadline(time.Unix(1, 0)) }) // a closed connection has none
	keep, err := l.exchange(method, path, n.head, body, decode)
	if !stop() || !keep || !n.put(l) {
		_ = l.conn.Close() // nothing is lost
	}
	return err
}

// exchange sends a request and reads its answer. It reports whether the connection can be used again.
func (l *line) exchange(method, path, head string, body []byte, decode func(status int, answer io.Reader) error) (keep bool, err error) {
	l.out = append(l.out[:0], method...)
	l.out = append(l.out, ' ')
	l.out = append(l.out, path...)
	l.out = append(l.out, " HTTP/1.1\r\n"...)
	l.out = append(l.out, head...)
	if body != nil {
		l.out = append(l.out, "Content-Length: "...)
		l.out = strconv.AppendInt(l.out, int64(len(body)), 10)
		l.out = append(l.out, "\r\n"...)
	}
	l.out = append(l.out, "\r\n"...)
	l.out = append(l.out, body...)
	if _, err := l.conn.Write(l.out); err != nil {
		return false, fmt.Errorf("send the request: %w", err)
	}
	response, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	err = decode(response.StatusCode, response.Body)
	if _, lost := io.Copy(io.Discard, response.Body); lost != nil {
		return false, fmt.Errorf("read the answer: %w", lost)
	}
	return !response.Close, err
}

// line returns an idle connection, or a new one.
func (n *node) line(ctx context.Context) (*line, error) {
	n.mu.Lock()
	if last := len(n.idle) - 1; last >= 0 {
		l := n.idle[last]
		n.idle = n.idle[:last]
		n.mu.Unlock()
		return l, nil
	}
	n.mu.Unlock()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", n.addr)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &line{conn: conn, in: bufio.NewReader(conn)}, nil
}

// put keeps an idle connection. It returns false if the node is closed.
func (n *node) put(l *line) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.closed {
		n.idle = append(n.idle, l)
	}
	return !n.closed
}

func (n *node) close() {
	n.mu.Lock()
	idle := n.idle
	n.idle, n.closed = nil, true
	n.mu.Unlock()
	for _, l := range idle {
		_ = l.conn.Close() // nothing is lost
	}
}
