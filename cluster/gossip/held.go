package gossip

import (
	"context"
	"net"
	"time"

	"github.com/hashicorp/memberlist"
)

// held is a transport that delivers nothing until open is closed, and whose dials can be ended.
//
// memberlist receives before it adds this node to its own list. If what it receives meanwhile is about an
// earlier life of this node, memberlist can list this node as dead. It then removes it from the list, and its
// next UpdateNode panics.
type held struct {
	memberlist.Transport
	open    chan struct{}
	dials   context.Context //nolint:containedctx // of all dials, and of the streams that they open
	endDial context.CancelFunc
}

// hold returns a transport that delivers nothing until open is called, which must be called once.
func hold(t memberlist.Transport) (h *held, open func()) {
	h = &held{Transport: t, open: make(chan struct{})}
	h.dials, h.endDial = context.WithCancel(context.Background())
	return h, func() { close(h.open) }
}

// contextDialer is a transport whose dials end with a context.
type contextDialer interface {
	DialContext(ctx context.Context, addr string) (net.Conn, error)
}

// DialTimeout implements memberlist.Transport. Its dials end when endDial is called, and streams are closed then:
// a machine that has vanished would hold up a stop until the timeout.
func (h *held) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	d, ok := h.Transport.(contextDialer)
	if !ok {
		return h.Transport.DialTimeout(addr, timeout)
	}
	ctx, cancel := context.WithTimeout(h.dials, timeout)
	defer cancel()
	c, err := d.DialContext(ctx, addr)
	if err != nil {
		return nil, err
	}
	return dialed{c, context.AfterFunc(h.dials, func() { _ = c.Close() })}, nil
}

// dialed is a stream that was dialed.
type dialed struct {
	net.Conn
	forget func() bool
}

// Close implements net.Conn.
func (d dialed) Close() error {
	d.forget()
	return d.Conn.Close()
}

// PacketCh implements memberlist.Transport. It waits until the transport is open: memberlist asks for the
// channel before each packet.
func (h *held) PacketCh() <-chan *memberlist.Packet {
	<-h.open
	return h.Transport.PacketCh()
}

// StreamCh implements memberlist.Transport. It waits as PacketCh does.
func (h *held) StreamCh() <-chan net.Conn {
	<-h.open
	return h.Transport.StreamCh()
}
