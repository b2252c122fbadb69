package raftrpc

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/internal/failpoint"
)

// snapshotRate is the least rate at which a snapshot must travel and be installed: its
// call has Options.Timeout for each so many bytes.
const snapshotRate = 256 << 10

// copyBytes is the size of the buffer through which a snapshot is sent.
const copyBytes = 256 << 10

// Layer makes and accepts the connections of a Transport, and says how calls are
// encoded on each.
type Layer interface {
	// Accept waits for a connection. Its error wraps net.ErrClosed once the layer
	// is closed.
	Accept() (net.Conn, Encoding, error)
	// Dial connects to the node at addr.
	Dial(addr raft.ServerAddress) (net.Conn, Encoding, error)
	// Addr returns the address that other nodes reach this node at.
	Addr() net.Addr
	// Close ends Accept and Dial.
	Close() error
}

// Options configures a Transport.
type Options struct {
	Layer   Layer
	Idle    int           // connections to one node that are kept for later calls
	Timeout time.Duration // bounds one call, but for the time that a snapshot travels
	Logger  hclog.Logger
}

// Transport implements raft.Transport, raft.WithPreVote and raft.WithClose. It has
// one call under way on a connection at a time. Its methods may be called
// concurrently.
type Transport struct {
	o     Options
	pool  pool
	calls chan raft.RPC // never closed
	done  chan struct{} // closed by Close
	once  sync.Once
	work  sync.WaitGroup // the accepting goroutine, and one for each accepted connection

	heartbeat atomic.Pointer[func(raft.RPC)]

	mu       sync.Mutex
	accepted map[net.Conn]struct{} // nil once closed; guarded by mu
}

// New returns a Transport over the connections of a layer. It starts goroutines,
// which end in Close.
func New(o Options) *Transport {
	t := &Transport{
		o: o, pool: pool{most: o.Idle, idle: make(map[raft.ServerAddress][]*link)},
		calls: make(chan raft.RPC), done: make(chan struct{}), accepted: make(map[net.Conn]struct{}),
	}
	t.work.Go(t.accept)
	return t
}

// Close closes the layer and all connections, and waits until no call is handled
// any more. Calls that this node makes end with an error.
func (t *Transport) Close() error {
	var err error
	t.once.Do(func() {
		close(t.done)
		err = t.o.Layer.Close()
		t.mu.Lock()
		for c := range t.accepted {
			_ = c.Close() // nothing more is written to it
		}
		t.accepted = nil
		t.mu.Unlock()
		t.pool.close()
	})
	t.work.Wait()
	return err //nolint:wrapcheck // the layer's own
}

// Consumer implements raft.Transport.
func (t *Transport) Consumer() <-chan raft.RPC { return t.calls }

// LocalAddr implements raft.Transport.
func (t *Transport) LocalAddr() raft.ServerAddress {
	return raft.ServerAddress(t.o.Layer.Addr().String())
}

// EncodePeer implements raft.Transport.
func (t *Transport) EncodePeer(_ raft.ServerID, addr raft.ServerAddress) []byte { return []byte(addr) }

// DecodePeer implements raft.Transport.
func (t *Transport) DecodePeer(b []byte) raft.ServerAddress { return raft.ServerAddress(b) }

// SetHeartbeatHandler implements raft.Transport. Heartbeats go to handle on the
// goroutine of their connection, so that they do not wait for Raft's disk.
func (t *Transport) SetHeartbeatHandler(handle func(raft.RPC)) {
	if handle == nil {
		t.heartbeat.Store(nil)
		return
	}
	t.heartbeat.Store(&handle)
}

// AppendEntriesPipeline implements raft.Transport: there are no pipelines. In a
// pipeline, Raft sends no more than MaxAppendEntries entries for each new entry, or
// every 50 to 100 ms: a follower that is 10,000 entries behind would take minutes to
// catch up. Without a pipeline Raft sends call after call until the follower has all
// entries. That costs nothing, since the proposer has one entry in flight.
func (t *Transport) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

// AppendEntries implements raft.Transport.
func (t *Transport) AppendEntries(_ raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	return t.call(target, args, resp, true)
}

// RequestVote implements raft.Transport.
func (t *Transport) RequestVote(_ raft.ServerID, target raft.ServerAddress, args *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	return t.call(target, args, resp, true)
}

// RequestPreVote implements raft.WithPreVote.
func (t *Transport) RequestPreVote(_ raft.ServerID, target raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	return t.call(target, args, resp, true)
}

// TimeoutNow implements raft.Transport. The call is not repeated: a node that has become
// leader by the first one would begin another election.
func (t *Transport) TimeoutNow(_ raft.ServerID, target raft.ServerAddress, args *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	return t.call(target, args, resp, false)
}

// call sends a request and waits for its reply. If an idle connection turns out to be
// lost, the node has probably restarted. If the request is idempotent, call then repeats
// it once on a new connection.
func (t *Transport) call(target raft.ServerAddress, request, response any, idempotent bool) error {
	if l := t.pool.take(target); l != nil {
		if err := t.callOn(l, request, response); !idempotent || !isLost(err) {
			return err
		}
	}
	l, err := t.dial(target)
	if err != nil {
		return err
	}
	return t.callOn(l, request, response)
}

// callOn makes one call on l, and puts l back into the pool or closes it. An error that
// the other node replied with leaves the connection as it is. If l is lost, callOn drops
// all idle connections to its node.
func (t *Transport) callOn(l *link, request, response any) error {
	if failpoint.Enabled && !isHeartbeat(request) {
		failpoint.At(failpoint.CallSend)
	}
	refused, err := l.roundTrip(t.o.Timeout, request, response)
	if err != nil {
		l.close()
		if isLost(err) {
			t.pool.drop(l.target)
		}
		return err
	}
	t.pool.put(l)
	return refused
}

// InstallSnapshot implements raft.Transport. The args.Size bytes of data follow the
// call, on a connection of its own: data cannot be sent a second time if an idle
// connection turns out to be lost.
func (t *Transport) InstallSnapshot(_ raft.ServerID, target raft.ServerAddress, args *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	l, err := t.dial(target)
	if err != nil {
		return err
	}
	defer l.close()
	if err := l.limit(t.o.Timeout * time.Duration(max(1, args.Size/snapshotRate))); err != nil {
		return err
	}
	if err := l.writeCall(args); err != nil {
		return err
	}
	sent, err := io.CopyBuffer(timedWriter{l.conn, t.o.Timeout}, io.LimitReader(data, args.Size), make([]byte, copyBytes))
	if err == nil && sent < args.Size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("send a snapshot: %d of %d bytes: %w", sent, args.Size, err)
	}
	refused, err := l.readReply(resp)
	if err != nil {
		return err
	}
	return refused
}

// timedWriter writes a snapshot. A Write fails if the receiver takes nothing for timeout: the system
// would notice a machine that has vanished only after some 15 minutes, and Raft sends the receiver
// nothing else meanwhile.
type timedWriter struct {
	conn    net.Conn
	timeout time.Duration
}

func (w timedWriter) Write(b []byte) (int, error) {
	if err := w.conn.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
		return 0, err //nolint:wrapcheck // the connection's own
	}
	return w.conn.Write(b) //nolint:wrapcheck // the connection's own
}

// dial returns a new connection to target.
func (t *Transport) dial(target raft.ServerAddress) (*link, error) {
	c, encoding, err := t.o.Layer.Dial(target)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the address
	}
	return newLink(c, encoding, target), nil
}
