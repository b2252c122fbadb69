package redis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/internal/budget"
)

// conn is one connection. Its goroutine makes one command after the other, so replies keep the order
// of the commands.
type conn struct {
	net.Conn

	server   *Server
	caller   string // whose share of the node's limits it uses
	requests *requests
	replies  *replies

	id         int64
	name       string            // as CLIENT SETNAME set it
	principal  *access.Principal // nil before AUTH, or if no credentials are asked for
	recognized bool              // certified was called
	opened     time.Time
	queue      *transaction // nil without MULTI
	loaded     int64        // bytes that were read for the current reply, counted as in flight
	quit       bool         // the connection ends after this reply

	client string // of request ids
	seq    uint64 // the newest request

	mu     sync.Mutex
	ending bool // guarded by mu; no further command is read
}

func newConn(s *Server, connection net.Conn) *conn {
	c := &conn{
		Conn: connection, server: s, caller: budget.Caller(connection.RemoteAddr().String()), id: s.last.Add(1),
		opened: time.Now(), client: "redis-" + uuid.NewString(),
	}
	c.replies = newReplies(paced{connection})
	c.requests = newRequests(flushing{connection, c.replies.to}, s.o.Bytes, c.caller)
	c.requests.early = c.locked()
	return c
}

// paced is a connection whose client must read each piece in time.
type paced struct{ net.Conn }

// Write implements io.Writer.
func (p paced) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		if err := p.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return done, err
		}
		n, err := p.Conn.Write(b[done:min(len(b), done+pieceBytes)])
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// flushing is a connection that sends all replies before it waits for more requests.
type flushing struct {
	net.Conn

	replies *bufio.Writer
}

// Read implements io.Reader.
func (f flushing) Read(b []byte) (int, error) {
	if err := f.replies.Flush(); err != nil {
		return 0, err
	}
	return f.Conn.Read(b)
}

// end makes the connection end after the command that runs.
func (c *conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	_ = c.SetReadDeadline(time.Unix(1, 0)) // the read that waits ends
}

// readBy sets the deadline of reads, unless the connection ends; it reports whether it does not.
func (c *conn) readBy(t time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.ending && c.SetReadDeadline(t) == nil
}

// locked reports whether the connection must authenticate first.
func (c *conn) locked() bool { return c.server.o.Auth != nil && c.principal == nil }

// serve makes the commands of a connection until it ends.
func (c *conn) serve(ctx context.Context) {
	defer func() {
		if cause := recover(); cause != nil {
			c.server.o.Logger.Error("a connection panicked", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
		}
		c.discard()
		c.unload()
		_ = c.replies.to.Flush() // of commands that were made before the connection ended
		_ = c.Close()            // the client sees its end
	}()
	for !c.quit {
		command, err := c.next(ctx)
		var wrong protocolError
		if errors.As(err, &wrong) {
			c.replies.value(wrong)
			return
		}
		if err != nil {
			return
		}
		c.dispatch(ctx, command)
		c.unload()
	}
}

// next waits for a command and reads it. A command that has begun must arrive in time. An empty line is no command:
// next waits again.
func (c *conn) next(ctx context.Context) (*command, error) {
	c.requests.await = func() error { return c.await(ctx) }
	return c.requests.next()
}

// deadline returns when the client must have authenticated, or ended its transaction. It returns the zero time if the
// client may wait without end.
func (c *conn) deadline() time.Time {
	switch {
	case c.locked():
		return c.opened.Add(authTimeout)
	case c.queue != nil && !c.queue.grew.IsZero():
		return c.queue.grew.Add(multiTimeout)
	default:
		return time.Time{}
	}
}

// await waits for the first byte of a line, and sets the deadline for the rest of its command.
func (c *conn) await(ctx context.Context) error {
	if !c.readBy(c.deadline()) {
		return net.ErrClosed
	}
	if _, err := c.requests.from.Peek(1); err != nil {
		return err
	}
	if !c.recognized {
		c.recognized = true
		c.certified(ctx)
	}
	began, deadline := time.Now(), c.deadline()
	c.requests.extend = func(received int64) {
		by := began.Add(commandGrace + time.Duration(received)*time.Second/receiveRate)
		if !deadline.IsZero() && deadline.Before(by) {
			by = deadline // the next command may have begun in the packet of the last one
		}
		c.readBy(by)
	}
	c.requests.early = c.locked()
	c.requests.extend(0)
	return nil
}

// dispatch makes a command and writes its reply.
func (c *conn) dispatch(ctx context.Context, cmd *command) {
	defer func() { c.requests.release(cmd) }()
	first := []byte{}
	if len(cmd.args) > 0 {
		first = cmd.args[0]
	}
	name := strings.ToUpper(string(first))
	spec, known := commands[name]
	switch {
	case !known && cmd.inline:
		// Not a Redis client, but perhaps a browser that a page of another site made connect.
		c.quit = true
		c.fail(failure("ERR Protocol error: this port speaks the Redis protocol"))
	case c.locked() && (!known || !spec.early):
		c.denied(c.calling(ctx, "command"), agent.Errorf(agent.CodeUnauthenticated, "the connection has not authenticated"))
		c.fail(errNoAuth)
	case cmd.refused != nil:
		c.fail(cmd.refused)
	case !known:
		c.fail(failuref("ERR unknown command '%.128s', with args beginning with: ", first))
	case spec.arity > 0 && len(cmd.args) != spec.arity || len(cmd.args) < -spec.arity:
		c.fail(errArity(strings.ToLower(name)))
	case c.queue != nil && !spec.ends:
		c.enqueue(cmd, spec)
	default:
		c.make(ctx, spec, cmd.args)
	}
}

// fail replies with an error. Within a transaction it makes EXEC fail.
func (c *conn) fail(err error) {
	if c.queue != nil {
		c.queue.broken = true
	}
	c.replies.value(err)
}

// calling returns the context of a command, with its caller.
func (c *conn) calling(ctx context.Context, name string) context.Context {
	return access.With(access.WithCall(ctx, access.Call{Address: c.RemoteAddr().String(), Method: "redis/" + name}), c.principal)
}

// make makes a command outside of a transaction.
func (c *conn) make(ctx context.Context, spec *spec, args [][]byte) {
	ctx = c.calling(ctx, strings.ToUpper(string(args[0])))
	if spec.parse == nil {
		spec.run(ctx, c, args)
		return
	}
	s, err := spec.parse(c, args)
	if err != nil {
		c.replies.value(err)
		return
	}
	replies, err := c.execute(ctx, []*step{s})
	switch {
	case err == nil:
		c.replies.value(replies[0])
	case s.no == int64(0) && agent.Retryable(err):
		c.replies.value(s.no) // its client takes every error for an unknown outcome, and this one is not applied
	default:
		c.replies.value(err)
	}
}
