package transport

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/cluster/keys"
	"dormouse/internal/listener"
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
	Keys      keys.Credentials
	// Roots verifies the certificates of nodes if the network does not. nil means that
	// the network verifies them, or uses no TLS.
	Roots  *x509.CertPool
	Logger hclog.Logger

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
	OnClosed  func(peer Identity)    // the last connection for Raft that the peer made has been closed
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
	if o.OnClosed == nil {
		o.OnClosed = func(Identity) {}
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

	encodings string // of Raft's calls that this node knows; "" in tests, as in builds before frames

	raft, peers *incoming
	handshaking *listener.Unproved // their handshakes are not complete
	done        chan struct{}      // closed by Close

	// dialing ends, by StopDialing, before Raft is stopped: Raft waits for its
	// calls, and a call to a node that is down lasts up to reachMax.
	dialing     context.Context //nolint:containedctx // raft's transport takes none
	stopDialing context.CancelFunc

	mu     sync.Mutex
	conns  map[*conn]struct{} // all that are open; guarded by mu
	closed bool               // guarded by mu
	// dialers counts the open connections for Raft that other nodes have made.
	dialers map[string]int // :: node → connections. Guarded by mu
	work    sync.WaitGroup // handshakes under way
}

// Listen listens for connections to the node or host self. Serve accepts them.
// The error wraps ErrListen if the address cannot be listened on.
func Listen(o Options, self *Self) (*Stream, error) {
	o.fill()
	if o.Keys == nil {
		return nil, errors.New("transport: a node needs a cluster key")
	}
	accepted, err := o.Network.Listen(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("%w on %s: %w", ErrListen, o.Listen, err)
	}
	s := &Stream{
		o: o, self: self, listener: accepted, addr: accepted.Addr(), logger: o.Logger,
		handshaking: listener.NewUnproved(unverifiedMax),
		encodings:   encodingsKnown,
		done:        make(chan struct{}),
		conns:       make(map[*conn]struct{}),
		dialers:     make(map[string]int),
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
		tracked, ok := s.track(c)
		if !ok {
			continue
		}
		if victim := s.handshaking.Add(tracked); victim != nil {
			if suppressed, due := s.rejected.allow(hostOf(victim.RemoteAddr()), time.Now()); due {
				s.logger.Warn("closed a connection: too many handshakes are under way", "limit", unverifiedMax, "from", victim.RemoteAddr(), "not-logged-since-the-last", suppressed)
			}
			_ = victim.Close()
		}
		s.work.Go(func() { s.accept(tracked) })
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

// connected reports whether node has opened a connection for Raft to this node, and
// it is open.
func (s *Stream) connected(node string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialers[node] > 0
}

// accept shakes hands with a dialer and hands the connection to the listener of
// its kind.
func (s *Stream) accept(c *conn) {
	kind, err := s.answer(c)
	s.handshaking.Remove(c)
	if err != nil {
		if suppressed, due := s.rejected.allow(c.caller(), time.Now()); due {
			s.logger.Warn("refused a connection", "from", c.RemoteAddr(), "error", err, "not-logged-since-the-last", suppressed)
		}
		_ = c.Close()
		return
	}
	var to *incoming
	switch kind {
	case kindRaft:
		to = s.raft
		c.noteDialer()
	case kindPeer:
		to = s.peers
	default: // its answer was the last message
		_ = c.Close()
		return
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
