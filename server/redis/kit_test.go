package redis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/server/redis"
)

// start serves a service on a free port of loopback until the test ends.
func start(t *testing.T, service agent.Service, o redis.Options) string {
	t.Helper()
	s, err := redis.New(service, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shut down: %v", err)
		}
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return l.Addr().String()
}

// client is a connection of a test.
type client struct {
	t *testing.T
	net.Conn
	from *bufio.Reader
}

func dial(t *testing.T, addr string) *client {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return over(t, c)
}

func over(t *testing.T, c net.Conn) *client {
	t.Helper()
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &client{t, c, bufio.NewReader(c)}
}

// encode returns a command as clients send it.
func encode(args ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return b.String()
}

// do sends a command of words and returns the reply as text.
func (c *client) do(line string) string {
	c.t.Helper()
	return c.send(strings.Fields(line)...)
}

func (c *client) send(args ...string) string {
	c.t.Helper()
	c.raw(encode(args...))
	return c.reply()
}

func (c *client) raw(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// reply reads a reply: a status as it is, an integer as (1), a bulk in quotes, null as nil, lists in
// brackets, maps in braces, an error after "-".
func (c *client) reply() string {
	c.t.Helper()
	line, err := c.from.ReadString('\n')
	if err != nil {
		c.t.Fatalf("read a reply: %v", err)
	}
	line = strings.TrimSuffix(line, "\r\n")
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '+':
		return line[1:]
	case '-':
		return line
	case ':':
		return "(" + line[1:] + ")"
	case '_':
		return "null"
	case '$':
		if n < 0 {
			return "nil"
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(c.from, b); err != nil {
			c.t.Fatal(err)
		}
		return strconv.Quote(string(b[:n]))
	case '*':
		return "[" + c.list(n) + "]"
	case '%':
		return "{" + c.list(2*n) + "}"
	default:
		c.t.Fatalf("a reply begins %q", line)
		return ""
	}
}

func (c *client) list(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = c.reply()
	}
	return strings.Join(all, " ")
}

// closed fails the test unless the server has closed the connection.
func (c *client) closed() {
	c.t.Helper()
	b, err := io.ReadAll(c.from)
	if errors.Is(err, syscall.ECONNRESET) { // it had more to read
		err = nil
	}
	if err != nil || len(b) > 0 {
		c.t.Errorf("the connection goes on: %q, %v", b, err)
	}
}
