package cluster

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
	"github.com/hashicorp/raft"
)

const (
	// handshakeMax bounds a handshake, and the wait of a fresh connection for
	// whoever serves its kind.
	handshakeMax = 5 * time.Second
	// greetingMax bounds the connections that have not shaken hands.
	greetingMax = 128
	// dialMax bounds connecting.
	dialMax = 5 * time.Second
	// reachMax bounds the attempts to reach another node's raft, and with it how
	// long raft's calls to a node that is down linger: an election a second or
	// two makes about 20 of them a node.
	reachMax = 30 * time.Second
	// reachRetry paces them.
	reachRetry = 100 * time.Millisecond
	// acceptRetry paces attempts after a failed accept.
	acceptRetry = 50 * time.Millisecond
)

// stream carries raft and peer traffic over one listener. Every connection
// shakes hands first, and none outlives the stream.
type stream struct {
	id       *identity
	network  Network
	listener net.Listener
	addr     net.Addr // what others reach this node at
	removed  func(incarnation string) bool
	expect   func(addr string) string // whose address it is; "" where unknown
	gone     func()                   // told when the other side says that this node was removed
	foreign  func(addr, why string)   // told when the other side belongs to another cluster
	met      func(addr string)        // told when a node of a cluster dials this node, which belongs to none
	logger   hclog.Logger
	refused  refusals // who would not have this node
	told     told     // whom this node would not have

	raft, peers *incoming
	greeting    chan struct{} // a token each, of greetingMax
	done        chan struct{} // closed by Close

	// dialing ends, by stopDialing, before raft is stopped: raft waits for its
	// calls, and those to nodes that are down would last for reachMax.
	dialing     context.Context //nolint:containedctx // raft's transport takes none
	stopDialing context.CancelFunc

	mu     sync.Mutex
	conns  map[*conn]struct{} // all that are open; guarded by mu
	closed bool               // guarded by mu
	work   sync.WaitGroup     // handshakes under way
}

// conn is a connection that its stream keeps track of.
type conn struct {
	net.Conn
	stream *stream
	peer   Identity
	run    string // the process at the other end
	once   sync.Once
}

// Close closes the connection.
func (c *conn) Close() error {
	c.once.Do(func() {
		c.stream.mu.Lock()
		delete(c.stream.conns, c)
		c.stream.mu.Unlock()
	})
	return c.Conn.Close()
}

// caller is who is at the other end, in as few words as tell callers apart.
func (c *conn) caller() string {
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		host = c.RemoteAddr().String()
	}
	return host + " " + c.peer.Node
}

// address is an address as its owner wrote it.
type address string

func (address) Network() string  { return "dormouse" }
func (a address) String() string { return string(a) }

func newStream(o *Options, id *identity, logger hclog.Logger) (*stream, error) {
	listener, err := o.Network.Listen(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("%w on %s: %w", ErrListen, o.Listen, err)
	}
	s := &stream{
		id: id, network: o.Network, listener: listener, addr: listener.Addr(), logger: logger,
		removed:  func(string) bool { return false },
		expect:   func(string) string { return "" },
		gone:     func() {},
		foreign:  func(string, string) {},
		met:      func(string) {},
		greeting: make(chan struct{}, greetingMax),
		done:     make(chan struct{}),
		conns:    make(map[*conn]struct{}),
	}
	s.dialing, s.stopDialing = context.WithCancel(context.Background())
	if o.Advertise != "" {
		s.addr = address(o.Advertise)
	}
	s.raft = &incoming{s, make(chan net.Conn)}
	s.peers = &incoming{s, make(chan net.Conn)}
	return s, nil
}

// serve accepts connections until the stream is closed or ctx ends.
func (s *stream) serve(ctx context.Context) error {
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
		case s.greeting <- struct{}{}:
		default:
			s.logger.Warn("too many connections that have not shaken hands", "bound", greetingMax)
			_ = c.Close()
			continue
		}
		tracked, ok := s.track(c)
		if !ok {
			<-s.greeting
			continue
		}
		s.work.Go(func() {
			defer func() { <-s.greeting }()
			s.greet(tracked)
		})
	}
}

// track keeps c until it is closed; it refuses once the stream is.
func (s *stream) track(c net.Conn) (*conn, bool) {
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

// greet shakes hands with a dialer and hands the connection on.
func (s *stream) greet(c *conn) {
	kind, err := s.welcome(c)
	if err != nil {
		if leftOut, due := s.told.say(c.caller(), time.Now()); due {
			s.logger.Warn("refused a connection", "from", c.RemoteAddr(), "error", err, "not-logged-since-the-last", leftOut)
		}
		_ = c.Close()
		return
	}
	to := s.peers
	if kind == kindRaft {
		to = s.raft
	}
	patience := time.NewTimer(handshakeMax)
	defer patience.Stop()
	select {
	case to.conns <- c:
	case <-patience.C:
		_ = c.Close()
	case <-s.done:
		_ = c.Close()
	}
}

func (s *stream) welcome(c *conn) (kind byte, err error) {
	if err := c.SetDeadline(time.Now().Add(handshakeMax)); err != nil {
		return 0, err
	}
	h, err := readHello(c)
	if err != nil {
		return 0, err
	}
	c.peer, c.run = Identity{ClusterID: h.cluster, Node: h.node, Incarnation: h.incarnation}, h.run
	if h.cluster != "" && h.addr != "" && s.id.clusterID() == "" {
		s.met(h.addr)
	}
	verdict, why := s.id.judge(h, s.removed)
	answer := s.hello(verdict, why)
	if _, err := c.Write(answer.encode()); err != nil {
		return 0, err
	}
	if verdict != verdictWelcome {
		return 0, fmt.Errorf("%w: %s", ErrHandshake, why)
	}
	return h.kind, c.SetDeadline(time.Time{})
}

// hello is what this node says of itself.
func (s *stream) hello(kind byte, text string) hello {
	return hello{kind: kind, cluster: s.id.clusterID(), node: s.id.node, incarnation: s.id.incarnation, run: s.id.run, addr: s.addr.String(), text: text}
}

// dial connects to addr and shakes hands.
func (s *stream) dial(ctx context.Context, addr string, kind byte) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialMax)
	defer cancel()
	raw, err := s.network.Dial(ctx, addr)
	if err != nil {
		s.refused.note(addr, false, time.Now()) // it is down, or away
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	c, ok := s.track(raw)
	if !ok {
		return nil, fmt.Errorf("dial %s: %w", addr, net.ErrClosed)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	err = s.introduce(c, addr, kind)
	if kind == kindRaft {
		s.refused.note(addr, errors.Is(err, ErrHandshake), time.Now())
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = c.Close()
		switch {
		case errors.Is(err, ErrRemoved):
			s.gone()
		case errors.Is(err, errOtherCluster):
			s.foreign(addr, err.Error())
		}
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	return c, nil
}

func (s *stream) introduce(c *conn, addr string, kind byte) error {
	if err := c.SetDeadline(time.Now().Add(handshakeMax)); err != nil {
		return err
	}
	if _, err := c.Write(s.hello(kind, "").encode()); err != nil {
		return err
	}
	answer, err := readHello(c)
	switch {
	case errors.Is(err, io.EOF): // a gossip port does not know the greeting, and hangs up
		return fmt.Errorf("%w: %w: it closed the connection without an answer, as a gossip port does (a node's default is 7603); use the node's raft.advertise, by default port 7602", err, errNotRaftPort)
	case err != nil:
		return err
	}
	if err := s.id.accept(kind, answer); err != nil {
		return err
	}
	if want := s.expect(addr); kind == kindRaft && want != "" && want != answer.node {
		return fmt.Errorf("%w: %s is the address of node %s, but node %s answers there", ErrHandshake, addr, want, answer.node)
	}
	c.peer, c.run = Identity{ClusterID: answer.cluster, Node: answer.node, Incarnation: answer.incarnation}, answer.run
	return c.SetDeadline(time.Time{})
}

// redial closes every connection there is: those that shook hands while this
// node belonged to no cluster carry less than those that will from now on.
func (s *stream) redial() {
	s.mu.Lock()
	open := slices.Collect(maps.Keys(s.conns))
	s.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

// Close stops listening and closes every connection, accepted or dialed.
func (s *stream) Close() error {
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
	s.redial()
	s.work.Wait()
	return err
}

// incoming is a net.Listener over the connections of one kind.
type incoming struct {
	stream *stream
	conns  chan net.Conn
}

// Accept waits for a connection that has shaken hands.
func (l *incoming) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.stream.done:
		return nil, net.ErrClosed
	}
}

// Close does nothing: the listener ends with its group.
func (l *incoming) Close() error { return nil }

// Addr is the address that others reach this node at.
func (l *incoming) Addr() net.Addr { return l.stream.addr }

// raftLayer is the stream as raft's transport wants it.
type raftLayer struct{ *incoming }

// Dial connects to another node's raft. It keeps trying for reachMax, so that a
// node that comes back is found at once: raft itself waits longer after each
// failure, up to 10 s, and fails at once where a connection is refused. A node
// that answers and will not have this one is asked less and less often.
func (l raftLayer) Dial(addr raft.ServerAddress, _ time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.stream.dialing, reachMax)
	defer cancel()
	err := fmt.Errorf("dial %s: %w: it refused this node a moment ago", addr, ErrHandshake)
	for {
		wait := l.stream.refused.wait(string(addr), time.Now())
		if wait == 0 {
			var c net.Conn
			c, err = l.stream.dial(ctx, string(addr), kindRaft)
			if err == nil || errors.Is(err, ErrRemoved) || errors.Is(err, errOtherCluster) {
				return c, err
			}
			wait = reachRetry
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

// Close closes the stream: the transport owns it.
func (l raftLayer) Close() error { return l.stream.Close() }
