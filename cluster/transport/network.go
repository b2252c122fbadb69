package transport

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// Network connects nodes: TCP or TLS in production, memory in tests.
// Connections must honour deadlines.
type Network interface {
	Listen(addr string) (net.Listener, error)
	Dial(ctx context.Context, addr string) (net.Conn, error)
}

// TCP is a Network over TCP, and over TLS where Config is set.
type TCP struct {
	Config *tls.Config
}

// A peer that vanished without a word is noticed after about a minute at the
// latest; Raft's own timeouts are shorter wherever it waits for an answer.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 3}

// Listen listens on addr.
func (n TCP) Listen(addr string) (net.Listener, error) {
	lc := net.ListenConfig{KeepAliveConfig: keepAlive}
	l, err := lc.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, err
	}
	if n.Config != nil {
		l = tls.NewListener(l, n.Config)
	}
	return l, nil
}

// Dial connects to addr.
func (n TCP) Dial(ctx context.Context, addr string) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: keepAlive}
	if n.Config == nil {
		return d.DialContext(ctx, "tcp", addr)
	}
	t := tls.Dialer{NetDialer: &d, Config: n.Config}
	return t.DialContext(ctx, "tcp", addr)
}
