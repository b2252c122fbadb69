package raftrpc

import (
	"errors"
	"io"
	"net"
	"time"

	"github.com/hashicorp/raft"
)

const (
	// acceptRetry is the pause after a failed accept.
	acceptRetry = 50 * time.Millisecond
	// drainedMax bounds what is read of a snapshot that Raft refused. A sender with
	// no more than that reads why; a larger snapshot's sender finds the connection
	// closed.
	drainedMax = 1 << 20
)

// accept serves connections until Close.
func (t *Transport) accept() {
	for {
		c, encoding, err := t.o.Layer.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			t.o.Logger.Warn("cannot accept a connection for Raft", "error", err)
			select {
			case <-time.After(acceptRetry):
				continue
			case <-t.done:
				return
			}
		}
		if !t.track(c) {
			_ = c.Close() // nothing was written
			return
		}
		t.work.Go(func() {
			defer t.forget(c)
			if err := t.serve(newLink(c, encoding, "")); err != nil && !t.ended(err) {
				t.o.Logger.Warn("closed a connection for Raft", "from", c.RemoteAddr().String(), "error", err)
			}
		})
	}
}

// track registers c, so that Close closes it. It returns false after Close.
func (t *Transport) track(c net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.accepted == nil {
		return false
	}
	t.accepted[c] = struct{}{}
	return true
}

func (t *Transport) forget(c net.Conn) {
	t.mu.Lock()
	delete(t.accepted, c)
	t.mu.Unlock()
	_ = c.Close() // its replies are written, or have no reader
}

// ended reports whether err is an ordinary end of a connection.
func (t *Transport) ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, raft.ErrTransportShutdown)
}

// serve handles the calls of a connection one after the other.
func (t *Transport) serve(l *link) error {
	for {
		request, body, err := l.readCall()
		if err != nil {
			return err
		}
		if body != nil {
			body = timedReader{body, l.conn, t.o.Timeout}
		}
		response, err := t.handle(request, body)
		if err != nil {
			return err
		}
		if err := l.writeReply(response); err != nil {
			return err
		}
		if body != nil { // the sender does not use the connection again
			_, _ = io.CopyN(io.Discard, body, drainedMax) // see drainedMax
			return nil
		}
	}
}

// timedReader reads a snapshot. A Read fails if the sender sends nothing for timeout: Raft installs a
// snapshot on its main goroutine, which handles no vote meanwhile.
type timedReader struct {
	io.Reader
	conn    net.Conn
	timeout time.Duration
}

func (r timedReader) Read(b []byte) (int, error) {
	if err := r.conn.SetReadDeadline(time.Now().Add(r.timeout)); err != nil {
		return 0, err //nolint:wrapcheck // the connection's own
	}
	return r.Reader.Read(b) //nolint:wrapcheck // the connection's own
}

// handle passes a call to Raft and waits for the answer.
func (t *Transport) handle(request any, body io.Reader) (raft.RPCResponse, error) {
	answered := make(chan raft.RPCResponse, 1)
	rpc := raft.RPC{Command: request, Reader: body, RespChan: answered}
	if beat := t.heartbeat.Load(); beat != nil && isHeartbeat(request) {
		(*beat)(rpc)
	} else {
		select {
		case t.calls <- rpc:
		case <-t.done:
			return raft.RPCResponse{}, raft.ErrTransportShutdown
		}
	}
	select {
	case response := <-answered:
		return response, nil
	case <-t.done:
		return raft.RPCResponse{}, raft.ErrTransportShutdown
	}
}

// isHeartbeat reports whether a call is a leader's heartbeat, which names its
// term and nothing else.
func isHeartbeat(request any) bool {
	r, ok := request.(*raft.AppendEntriesRequest)
	return ok && r.Term != 0 && r.PrevLogEntry == 0 && r.PrevLogTerm == 0 && len(r.Entries) == 0 && r.LeaderCommitIndex == 0
}
