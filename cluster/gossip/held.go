package gossip

import (
	"net"

	"github.com/hashicorp/memberlist"
)

// held is a transport that delivers nothing until open is closed.
//
// memberlist receives before it adds this node to its own list. If what it receives meanwhile is about an
// earlier life of this node, memberlist can list this node as dead. It then removes it from the list, and its
// next UpdateNode panics.
type held struct {
	memberlist.Transport
	open chan struct{}
}

// hold returns a transport that delivers nothing until open is called, which must be called once.
func hold(t memberlist.Transport) (h *held, open func()) {
	h = &held{t, make(chan struct{})}
	return h, func() { close(h.open) }
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
