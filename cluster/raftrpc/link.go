package raftrpc

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
)

// Encoding is how calls are encoded on a connection.
type Encoding byte

const (
	// Msgpack is the encoding of nodes that do not know frames.
	Msgpack Encoding = iota
	// Frames is described in frames.go, as is SummedFrames.
	Frames
	// SummedFrames has checksums.
	SummedFrames
)

// callCodec reads and writes the calls and replies of one connection, of which one is
// under way at a time. After an error the connection is of no further use.
type callCodec interface {
	// writeCall writes a request. A snapshot is written to the connection after it.
	writeCall(request any) error
	// readReply reads a reply into response. If the other node replied with an
	// error, refused is that.
	readReply(response any) (refused, err error)
	// readCall reads a request. body is the snapshot that follows it, or nil. Between
	// two calls the end of the connection is io.EOF.
	readCall() (request any, body io.Reader, err error)
	// writeReply writes a reply.
	writeReply(response raft.RPCResponse) error
}

// link is a connection to another node, or one that another node has made.
type link struct {
	callCodec
	conn   net.Conn
	target raft.ServerAddress // "" if the other node has made it
	unused time.Time          // since when it is in the pool
}

func newLink(c net.Conn, encoding Encoding, target raft.ServerAddress) *link {
	l := &link{conn: c, target: target}
	if encoding == Msgpack {
		l.callCodec = newMsgpack(c)
		return l
	}
	f := newFrames(c)
	f.sums = encoding == SummedFrames
	l.callCodec = f
	return l
}

func (l *link) close() { _ = l.conn.Close() } // what was written is answered, or not needed

// limit makes the call that begins now end within timeout.
func (l *link) limit(timeout time.Duration) error {
	if err := l.conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return fmt.Errorf("call %s: %w", l.target, err)
	}
	return nil
}

// roundTrip sends a request and reads its reply, within timeout. If the other node
// replied with an error, refused is that.
func (l *link) roundTrip(timeout time.Duration, request, response any) (refused, err error) {
	if err := l.limit(timeout); err != nil {
		return nil, err
	}
	if err := l.writeCall(request); err != nil {
		return nil, err
	}
	return l.readReply(response)
}

// isLost reports whether err says that a connection ended. A deadline or a malformed
// reply does not say that.
func isLost(err error) bool {
	var errno syscall.Errno // a reset, or keep-alives without an answer
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &errno)
}

// unusedMax is how long a connection that no call uses is kept, or up to twice as long. Those to
// addresses that no member has any more would stay open else.
const unusedMax = 5 * time.Minute

// pool keeps the connections to other nodes that no call uses.
type pool struct {
	most int // for one node

	mu     sync.Mutex
	idle   map[raft.ServerAddress][]*link // guarded by mu; the last one was used last
	swept  time.Time                      // guarded by mu
	closed bool                           // guarded by mu
}

// take returns a connection to target, or nil.
func (p *pool) take(target raft.ServerAddress) *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := p.idle[target]
	if len(idle) == 0 {
		return nil
	}
	last := len(idle) - 1
	l := idle[last]
	idle[last] = nil
	if p.idle[target] = idle[:last]; last == 0 {
		delete(p.idle, target)
	}
	return l
}

// put gives l back. It closes l if enough connections to that node are kept, and those that were not
// used for unusedMax.
func (p *pool) put(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.unused = time.Now()
	if l.unused.Sub(p.swept) > unusedMax {
		p.swept = l.unused
		p.sweep(l.unused.Add(-unusedMax))
	}
	if p.closed || len(p.idle[l.target]) >= p.most {
		l.close()
		return
	}
	p.idle[l.target] = append(p.idle[l.target], l)
}

// sweep closes the connections that were not used since then. mu must be held.
func (p *pool) sweep(since time.Time) {
	for target, idle := range p.idle {
		n := 0
		for n < len(idle) && idle[n].unused.Before(since) {
			idle[n].close()
			n++
		}
		if p.idle[target] = slices.Delete(idle, 0, n); n == len(idle) {
			delete(p.idle, target)
		}
	}
}

// drop closes all idle connections to target.
func (p *pool) drop(target raft.ServerAddress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.idle[target] {
		l.close()
	}
	delete(p.idle, target)
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, idle := range p.idle {
		for _, l := range idle {
			l.close()
		}
	}
	clear(p.idle)
}
