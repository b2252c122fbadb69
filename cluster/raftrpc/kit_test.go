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

func listen(t testing.TB, encoding Encoding) *tcpLayer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
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
func on(t testing.TB, l Layer) *Transport {
	t.Helper()
	transport := New(Options{Layer: l, Idle: 3, Timeout: 10 * time.Second, Logger: nullLogger})
	t.Cleanup(func() {
		if err := transport.Close(); err != nil {
			t.Error(err)
		}
	})
	return transport
}

// raftsOwn returns raft's own transport, as nodes of builds before frames have it.
func raftsOwn(t testing.TB) transport {
	t.Helper()
	transport := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: raftLayer{listen(t, Msgpack)}, MaxPool: 3, Timeout: 10 * time.Second, Logger: nullLogger,
	})
	t.Cleanup(func() {
		if err := transport.Close(); err != nil {
			t.Error(err)
		}
	})
	return transport
}

// answer answers the calls to a transport until the test ends.
func answer(t testing.TB, to raft.Transport, with func(raft.RPC)) {
	t.Helper()
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
	t.Cleanup(func() {
		close(stop)
		<-stopped
	})
}
