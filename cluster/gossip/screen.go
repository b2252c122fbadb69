package gossip

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/memberlist"
	"golang.org/x/time/rate"

	"dormouse/internal/listener"
)

const (
	// portTries bounds the attempts to find a port that is free for UDP and TCP.
	portTries = 10

	// wrongPortEvery is the time between two log lines about connections of
	// other protocols, or about too many: a node that was told to join here dials every second.
	wrongPortEvery = time.Minute

	// The first byte of a stream is the type of memberlist's message: one of a
	// few small numbers, or that of a label. TLS begins with 0x16, and Raft's
	// handshake, HTTP and gRPC begin with letters.
	messageTypesEnd = 0x10
	labelType       = 0xf4

	// firstBytes holds the greeting of another protocol: a connection that is
	// closed with bytes unread is reset, and the dialer could not tell why.
	firstBytes = 4 << 10

	// streamsMax bounds the streams that are open: memberlist reads up to 20 MiB of one before it
	// can tell whether the sender has the key. Those of members last for milliseconds.
	streamsMax = 64
)

// screen is memberlist's transport over UDP and TCP without the streams that are
// not gossip. It closes those and logs why; memberlist would log an error for each.
// It bounds the streams, as none has proved yet that it is of a member.
type screen struct {
	*memberlist.NetTransport
	raftAddr string
	logger   hclog.Logger
	streams  chan net.Conn
	stop     context.CancelFunc
	wait     sync.WaitGroup
	open     *listener.Unproved
	logged   rate.Sometimes // of other protocols
	crowded  rate.Sometimes
}

// listen returns a transport that listens on an address; port 0 takes any.
func listen(host string, port int, raftAddr string, logger hclog.Logger) (*screen, error) {
	tries := 1
	if port == 0 {
		tries = portTries // the port that TCP gets may be taken for UDP
	}
	c := &memberlist.NetTransportConfig{BindAddrs: []string{host}, BindPort: port, Logger: standard(logger)}
	inner, err := memberlist.NewNetTransport(c)
	for ; err != nil && tries > 1; tries-- {
		inner, err = memberlist.NewNetTransport(c)
	}
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &screen{
		NetTransport: inner, raftAddr: raftAddr, logger: logger,
		streams: make(chan net.Conn), stop: stop, open: listener.NewUnproved(streamsMax),
		logged: rate.Sometimes{Interval: wrongPortEvery}, crowded: rate.Sometimes{Interval: wrongPortEvery},
	}
	s.wait.Go(func() { s.run(ctx) })
	return s, nil
}

// StreamCh returns the streams that are gossip.
func (s *screen) StreamCh() <-chan net.Conn { return s.streams }

// DialContext is DialTimeout, and ends with ctx.
func (s *screen) DialContext(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

// Shutdown closes the listeners and the streams that memberlist has not taken.
// The listeners end only while their packets and streams are taken.
func (s *screen) Shutdown() error {
	closed := make(chan struct{})
	s.wait.Go(func() {
		for {
			select {
			case <-s.PacketCh():
			case <-closed:
				return
			}
		}
	})
	err := s.NetTransport.Shutdown()
	close(closed)
	s.stop()
	s.wait.Wait()
	return err
}

func (s *screen) run(ctx context.Context) {
	for {
		select {
		case c := <-s.NetTransport.StreamCh():
			b := &begun{Conn: c, open: s.open}
			if victim := s.open.Add(b); victim != nil {
				s.crowded.Do(func() {
					s.logger.Warn("closed a connection to the gossip port: too many are open", "limit", streamsMax, "from", victim.RemoteAddr())
				})
				_ = victim.Close()
			}
			s.wait.Go(func() { s.check(ctx, b) })
		case <-ctx.Done():
			return
		}
	}
}

// check reads the first bytes of a stream and passes the stream on, or closes it.
func (s *screen) check(ctx context.Context, c *begun) {
	unblock := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer unblock()
	first := make([]byte, firstBytes)
	_ = c.SetReadDeadline(time.Now().Add(streamTimeout))
	n, err := c.Conn.Read(first)
	if err != nil {
		s.logger.Debug("a gossip connection ended before its first message", "from", c.RemoteAddr(), "error", err)
		_ = c.Close()
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	if first[0] >= messageTypesEnd && first[0] != labelType {
		s.logged.Do(func() {
			s.logger.Warn("a connection to the gossip port uses another protocol; if a node's join list names this port, it must name the Raft address",
				"from", c.RemoteAddr(), "raft", s.raftAddr)
		})
		_ = c.Close()
		return
	}
	c.first = first[:n]
	select {
	case s.streams <- c:
	case <-ctx.Done():
		_ = c.Close()
	}
}

// begun is a connection of which the first bytes have been read already. One
// goroutine may read from it at a time.
type begun struct {
	net.Conn
	open  *listener.Unproved
	first []byte
}

// Close implements net.Conn.
func (b *begun) Close() error {
	b.open.Remove(b)
	return b.Conn.Close()
}

func (b *begun) Read(p []byte) (int, error) {
	if len(b.first) == 0 || len(p) == 0 {
		return b.Conn.Read(p)
	}
	n := copy(p, b.first)
	b.first = b.first[n:]
	return n, nil
}
