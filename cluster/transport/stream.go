package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// handshakeMax bounds a handshake, and the time that a new connection waits
	// to be accepted.
	handshakeMax = 5 * time.Second
	// unverifiedMax bounds the connections whose handshake is not complete.
	unverifiedMax = 128
	// dialMax bounds connecting.
	dialMax = 5 * time.Second
	// acceptRetry is the pause after a failed accept.
	acceptRetry = 50 * time.Millisecond
)

// ErrListen says that the node cannot listen on its address.
var ErrListen = errors.New("cannot listen")

// Options configures a Stream.
type Options struct {
	Network   Network // nil means TCP
	Listen    string  // address to listen on
	Advertise string  // address that others reach this node at; "" means the listener's
	Logger    hclog.Logger

	// Removed reports whether the cluster has removed the data directory with
	// that incarnation; nil means never.
	Removed func(incarnation string) bool
	// Expect returns the node whose address addr is, or "" if unknown. It may be
	// nil.
	Expect func(addr string) string

	// The callbacks below may be nil, and must not block.

	OnRemoved func()                 // another node says that this node was removed
	OnForeign func(addr, why string) // the node at addr belongs to another cluster
	OnMet     func(addr string)      // a node of a cluster dialed this node, which belongs to none
}

func (o *Options) fill() {
	if o.Network == nil {
		o.Network = TCP{}
	}
	if o.Removed == nil {
		o.Removed = func(string) bool { return false }
	}
	if o.Expect == nil {
		o.Expect = func(string) string { return "" }
	}
	if o.OnRemoved == nil {
		o.OnRemoved = func() {}
	}
	if o.OnForeign == nil {
		o.OnForeign = func(string, string) {}
	}
	if o.OnMet == nil {
		o.OnMet = func(string) {}
	}
}

// Stream carries Raft and peer traffic over one listener. Every connection
// begins with a handshake, and ends with the Stream at the latest. Its methods
// may be called concurrently.
type Stream struct {
	o        Options
	self     *Self
	listener net.Listener
	addr     net.Addr // that others reach this node at
	logger   hclog.Logger
	refusals refusals   // addresses that refuse this node
	rejected logLimiter // peers that this node refuses

	raft, peers *incoming
	unverified  chan struct{} // holds one token for each, up to unverifiedMax
	done        chan struct{} // closed by Close

	// dialing ends, by StopDialing, before Raft is stopped: Raft waits for its
	// calls, and a call to a node that is down lasts up to reachMax.
	dialing     context.Context //nolint:containedctx // raft's transport takes none
	stopDialing context.CancelFunc

	mu     sync.Mutex
	conns  map[*conn]struct{} // all that are open; guarded by mu
	closed bool               // guarded by mu
	work   sync.WaitGroup     // handshakes under way
}

// Listen listens for connections to the node or host self. Serve accepts them.
// The error wraps ErrListen if the address cannot be listened on.
func Listen(o Options, self *Self) (*Stream, error) {
	o.fill()
	listener, err := o.Network.Listen(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("%w on %s: %w", ErrListen, o.Listen, err)
	}
	s := &Stream{
		o: o, self: self, listener: listener, addr: listener.Addr(), logger: o.Logger,
		unverified: make(chan struct{}, unverifiedMax),
		done:       make(chan struct{}),
		conns:      make(map[*conn]struct{}),
	}
	s.dialing, s.stopDialing = context.WithCancel(context.Background())
	if o.Advertise != "" {
		s.addr = address(o.Advertise)
	}
	s.raft = &incoming{s, make(chan net.Conn)}
	s.peers = &incoming{s, make(chan net.Conn)}
	return s, nil
}

// Addr returns the address that others reach this node at.
func (s *Stream) Addr() string { return s.addr.String() }

// PeerListener returns the listener of the connections that DialPeer makes on
// other nodes.
func (s *Stream) PeerListener() net.Listener { return s.peers }

// DialPeer connects to the PeerListener of the node at addr.
func (s *Stream) DialPeer(ctx context.Context, addr string) (net.Conn, error) {
	return s.dial(ctx, addr, kindPeer)
}

// Retry makes the next dial of addr immediate: the node there is expected to
// accept this node now.
func (s *Stream) Retry(addr string) { s.refusals.note(addr, false, time.Now()) }

// LogDue reports whether a log line about a connection problem with peer is
// due; it is, once in 10 s.
func (s *Stream) LogDue(peer string) bool {
	_, due := s.rejected.allow(peer, time.Now())
	return due
}

// Serve accepts connections until the stream is closed or ctx ends.
func (s *Stream) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = s.listener.Close() })
	defer stop()
	defer s.work.Wait()
	for {
		c, err := s.listener.Accept()
		if err != nil {
			select {
			case <-s.done:
				return nil
			case <-ctx.Done():
				return nil
			case <-time.After(acceptRetry):
				s.logger.Warn("cannot accept a connection", "error", err)
				continue
			}
		}
		select {
		case s.unverified <- struct{}{}:
		default:
			s.logger.Warn("closed a connection: too many handshakes are under way", "limit", unverifiedMax)
			_ = c.Close()
			continue
		}
		tracked, ok := s.track(c)
		if !ok {
			<-s.unverified
			continue
		}
		s.work.Go(func() {
			defer func() { <-s.unverified }()
			s.accept(tracked)
		})
	}
}

// track registers c until it is closed. It closes c and returns false if the
// stream is closed.
func (s *Stream) track(c net.Conn) (*conn, bool) {
	t := &conn{Conn: c, stream: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close()
		return nil, false
	}
	s.conns[t] = struct{}{}
	return t, true
}

// accept shakes hands with a dialer and hands the connection to the listener of
// its kind.
func (s *Stream) accept(c *conn) {
	kind, err := s.answer(c)
	if err != nil {
		if suppressed, due := s.rejected.allow(c.caller(), time.Now()); due {
			s.logger.Warn("refused a connection", "from", c.RemoteAddr(), "error", err, "not-logged-since-the-last", suppressed)
		}
		_ = c.Close()
		return
	}
	to := s.peers
	if kind == kindRaft {
		to = s.raft
	}
	limit := time.NewTimer(handshakeMax)
	defer limit.Stop()
	select {
	case to.conns <- c:
	case <-limit.C:
		_ = c.Close()
	case <-s.done:
		_ = c.Close()
	}
}

// answer is the accepting side of a handshake.
func (s *Stream) answer(c *conn) (kind byte, err error) {
	if err := c.SetDeadline(time.Now().Add(handshakeMax)); err != nil {
		return 0, err
	}
	h, err := readHello(c)
	if err != nil {
		return 0, err
	}
	c.peer = h.identity()
	if h.cluster != "" && h.addr != "" && s.self.ClusterID() == "" {
		s.o.OnMet(h.addr)
	}
	verdict, why := s.self.judge(h, s.o.Removed)
	answer := s.hello(verdict, why)
	if _, err := c.Write(answer.encode()); err != nil {
		return 0, err
	}
	if verdict != verdictWelcome {
		return 0, fmt.Errorf("%w: %s", ErrHandshake, why)
	}
	return h.kind, c.SetDeadline(time.Time{})
}

// hello returns what this node sends in a handshake.
func (s *Stream) hello(kind byte, text string) hello {
	return hello{
		kind: kind, cluster: s.self.ClusterID(), node: s.self.Node, incarnation: s.self.Incarnation, process: s.self.Process,
		addr: s.Addr(), text: text,
	}
}

// dial connects to addr and shakes hands.
func (s *Stream) dial(ctx context.Context, addr string, kind byte) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialMax)
	defer cancel()
	raw, err := s.o.Network.Dial(ctx, addr)
	if err != nil {
		s.refusals.note(addr, false, time.Now()) // the node is down or unreachable: it did not refuse
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	c, ok := s.track(raw)
	if !ok {
		return nil, fmt.Errorf("dial %s: %w", addr, net.ErrClosed)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	err = s.introduce(c, addr, kind)
	if kind == kindRaft {
		s.refusals.note(addr, errors.Is(err, ErrHandshake), time.Now())
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = c.Close()
		switch {
		case errors.Is(err, ErrRemoved):
			s.o.OnRemoved()
		case errors.Is(err, ErrOtherCluster):
			s.o.OnForeign(addr, err.Error())
		}
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	return c, nil
}

// introduce is the dialing side of a handshake.
func (s *Stream) introduce(c *conn, addr string, kind byte) error {
	if err := c.SetDeadline(time.Now().Add(handshakeMax)); err != nil {
		return err
	}
	if _, err := c.Write(s.hello(kind, "").encode()); err != nil {
		return err
	}
	answer, err := readHello(c)
	switch {
	case errors.Is(err, io.EOF): // a gossip port does not know the greeting, and hangs up
		return fmt.Errorf("%w: %w: it closed the connection without an answer, as a gossip port does (a node's default is 7603); use the node's raft.advertise, by default port 7602", err, ErrNotRaftPort)
	case err != nil:
		return err
	}
	if err := s.self.check(kind, answer); err != nil {
		return err
	}
	if want := s.o.Expect(addr); kind == kindRaft && want != "" && want != answer.node {
		return fmt.Errorf("%w: %s is the address of node %s, but node %s answers there", ErrHandshake, addr, want, answer.node)
	}
	c.peer = answer.identity()
	return c.SetDeadline(time.Time{})
}

// Redial closes all connections, so that both sides shake hands again: the
// connections of a node that belongs to no cluster carry fewer requests.
func (s *Stream) Redial() {
	s.mu.Lock()
	open := slices.Collect(maps.Keys(s.conns))
	s.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

// StopDialing ends the attempts to reach other nodes' Raft. Call it before Raft
// is stopped, which waits for its calls.
func (s *Stream) StopDialing() { s.stopDialing() }

// Close stops listening and closes every connection, accepted or dialed.
func (s *Stream) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.stopDialing()
	close(s.done)
	s.mu.Unlock()
	err := s.listener.Close()
	s.Redial()
	s.work.Wait()
	return err
}
