package redis

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"

	"dormouse/agent"
	"dormouse/internal/budget"
)

// command is one request: a name and its arguments.
type command struct {
	args    [][]byte
	inline  bool         // it was a line of text
	size    int64        // of the arguments, and argumentCost for each
	counted int64        // bytes of it that are counted as in flight
	refused *agent.Error // it was read to its end, but not kept
}

// protocolError is a request that is not RESP. The connection ends, because the beginning of the next
// request is unknown.
type protocolError string

func (e protocolError) Error() string { return "Protocol error: " + string(e) }

// requests reads the commands of a connection.
type requests struct {
	from   *bufio.Reader
	bytes  *budget.Pool
	caller string
	early  bool                 // the client has not authenticated
	await  func() error         // waits for the first byte of a command, or of an empty line
	extend func(received int64) // extends the deadline for the rest of a command
}

func newRequests(from io.Reader, bytes *budget.Pool, caller string) *requests {
	return &requests{from: bufio.NewReaderSize(from, lineBytesMax), bytes: bytes, caller: caller, await: func() error { return nil }, extend: func(int64) {}}
}

// next returns the next command. The caller must give it back with release. An error is a
// protocolError, or that of the connection.
func (r *requests) next() (*command, error) {
	for {
		if err := r.await(); err != nil {
			return nil, err
		}
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			continue
		}
		if line[0] != '*' {
			if c := inlineCommand(line); len(c.args) > 0 {
				return c, nil
			}
			continue
		}
		n, err := strconv.ParseInt(string(line[1:]), 10, 64)
		if err != nil || n > argumentsMax || r.early && n > earlyArgsMax {
			return nil, protocolError("invalid multibulk length")
		}
		if n <= 0 {
			continue
		}
		c := &command{}
		for range n {
			if err := r.argument(c); err != nil {
				r.release(c)
				return nil, err
			}
		}
		return c, nil
	}
}

// release gives back what a command counts.
func (r *requests) release(c *command) {
	r.bytes.Give(r.caller, c.counted)
	c.counted = 0
}

// line returns the next line without its end. It is valid until the next read.
func (r *requests) line() ([]byte, error) {
	line, err := r.from.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, protocolError("too big inline request")
	case err != nil:
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'}), nil
}

func inlineCommand(line []byte) *command {
	c := &command{inline: true, size: int64(len(line))}
	for _, word := range bytes.Fields(line) {
		c.args = append(c.args, bytes.Clone(word))
	}
	return c
}

// argument reads one argument of a command.
func (r *requests) argument(c *command) error {
	line, err := r.line()
	if err != nil {
		return err
	}
	if len(line) == 0 || line[0] != '$' {
		return protocolError("expected '$'")
	}
	n, err := strconv.ParseInt(string(line[1:]), 10, 64)
	if err != nil || n < 0 || n > bulkBytesMax || r.early && c.size+n > earlyBytesMax {
		return protocolError("invalid bulk length")
	}
	left := n
	if c.refused == nil && c.size+n > commandBytesMax {
		r.refuse(c, agent.TooLarge("command", "redis_command_bytes_max", int(c.size+n), commandBytesMax))
	}
	if c.refused == nil {
		var arg []byte
		if arg, err = r.receive(c, n); err != nil {
			return err
		}
		left -= int64(len(arg))
		if c.refused == nil {
			c.args = append(c.args, arg)
		}
	}
	if err := r.skip(c, left); err != nil {
		return err
	}
	return r.end()
}

// refuse drops what a command holds. The rest of it is read and skipped.
func (r *requests) refuse(c *command, why *agent.Error) {
	c.refused = why
	c.args = c.args[:min(len(c.args), 1)]
	r.release(c)
}

// take counts n more bytes of a command; it returns false if there is no room.
func (r *requests) take(c *command, n int64) bool {
	c.size += n
	more := c.size - c.counted
	if c.size < countedLeast {
		return true
	}
	if !r.bytes.Try(r.caller, more) {
		return false
	}
	c.counted += more
	return true
}

// receive reads an argument of n bytes. Room for it grows with what has arrived, so that a client
// that only announces a large argument takes none from others. It ends early if the command is refused.
func (r *requests) receive(c *command, n int64) ([]byte, error) {
	if !r.take(c, argumentCost) {
		r.refuse(c, overloaded())
		return nil, nil
	}
	first := int64(firstRoom)
	if r.early {
		first = earlyRoom
	}
	arg := []byte{}
	for int64(len(arg)) < n {
		if len(arg) == cap(arg) {
			room := min(max(2*int64(cap(arg)), first), n)
			if !r.take(c, room-int64(cap(arg))) {
				r.refuse(c, overloaded())
				return arg, nil // its length is what has been read
			}
			arg = append(make([]byte, 0, room), arg...)
		}
		got, err := io.ReadFull(r.from, arg[len(arg):cap(arg)])
		arg = arg[:len(arg)+got]
		if err != nil {
			return nil, err
		}
		r.extend(c.size)
	}
	return arg, nil
}

// skip reads n bytes and drops them.
func (r *requests) skip(c *command, n int64) error {
	for n > 0 {
		got, err := r.from.Discard(int(min(n, firstRoom)))
		n -= int64(got)
		if err != nil {
			return err
		}
		c.size += int64(got)
		r.extend(c.size)
	}
	return nil
}

// end reads the end of an argument.
func (r *requests) end() error {
	var mark [2]byte
	if _, err := io.ReadFull(r.from, mark[:]); err != nil {
		return err
	}
	if mark != [2]byte{'\r', '\n'} {
		return protocolError("an argument is longer than its length says")
	}
	return nil
}

// overloaded returns the error for a node without room.
func overloaded() *agent.Error {
	return agent.Errorf(agent.CodeOverloaded, "this node has as many bytes of requests and answers in flight as it may; retry later")
}
