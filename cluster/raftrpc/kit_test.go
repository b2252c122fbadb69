package raftrpc

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

var nullLogger = hclog.NewNullLogger()

// tcpLayer is a Layer over loopback, and a raft.StreamLayer.
type tcpLayer struct {
	net.Listener
	encoding Encoding
	dialed   func(net.Conn) // sees each connection that it makes; nil sees none
}

func listen(tb testing.TB, encoding Encoding) *tcpLayer {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return &tcpLayer{Listener: l, encoding: encoding}
}

func (l *tcpLayer) Accept() (net.Conn, Encoding, error) {
	c, err := l.Listener.Accept()
	return c, l.encoding, err
}

func (l *tcpLayer) Dial(addr raft.ServerAddress) (net.Conn, Encoding, error) {
	c, err := new(net.Dialer).DialContext(context.Background(), "tcp", string(addr))
	if err == nil && l.dialed != nil {
		l.dialed(c)
	}
	return c, l.encoding, err
}

// raftLayer makes a tcpLayer the raft.StreamLayer of raft's own transport.
type raftLayer struct{ *tcpLayer }

func (l raftLayer) Accept() (net.Conn, error) { return l.Listener.Accept() }
func (l raftLayer) Dial(addr raft.ServerAddress, _ time.Duration) (net.Conn, error) {
	c, _, err := l.tcpLayer.Dial(addr)
	return c, err
}

// transport is what a transport for Raft implements here.
type transport interface {
	raft.Transport
	raft.WithPreVote
	raft.WithClose
}

// on returns a transport on a layer, which ends with the test.
func on(tb testing.TB, l Layer) *Transport {
	tb.Helper()
	transport := New(Options{Layer: l, Idle: 3, Timeout: 10 * time.Second, Logger: nullLogger})
	tb.Cleanup(func() {
		if err := transport.Close(); err != nil {
			tb.Error(err)
		}
	})
	return transport
}

// raftsOwn returns raft's own transport, as nodes of builds before frames have it.
func raftsOwn(tb testing.TB) transport {
	tb.Helper()
	transport := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: raftLayer{listen(tb, Msgpack)}, MaxPool: 3, Timeout: 10 * time.Second, Logger: nullLogger,
	})
	tb.Cleanup(func() {
		if err := transport.Close(); err != nil {
			tb.Error(err)
		}
	})
	return transport
}

// framed and packed return transports that know one encoding.
func framed(tb testing.TB) transport { tb.Helper(); return on(tb, listen(tb, Frames)) }

func summed(tb testing.TB) transport { tb.Helper(); return on(tb, listen(tb, SummedFrames)) }
func packed(tb testing.TB) transport { tb.Helper(); return on(tb, listen(tb, Msgpack)) }

// pair is two transports of one network.
type pair struct {
	name     string
	from, to func(testing.TB) transport
}

// answer answers the calls to a transport until the test ends.
func answer(tb testing.TB, to raft.Transport, with func(raft.RPC)) {
	tb.Helper()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case rpc := <-to.Consumer():
				with(rpc)
			case <-stop:
				return
			}
		}
	}()
	tb.Cleanup(func() {
		close(stop)
		<-stopped
	})
}
