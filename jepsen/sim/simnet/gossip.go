package simnet

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// packetsMax bounds the packets that wait for a process. Further ones are lost.
const packetsMax = 1024

// Gossip is a transport of memberlist for one process: packets that may be lost,
// overtaken and duplicated, and streams.
type Gossip struct {
	host     *Host
	at       *net.UDPAddr
	listener net.Listener
	packets  chan *memberlist.Packet
	streams  chan net.Conn
	once     sync.Once
	down     chan struct{} // closed by Shutdown
}

// Gossip listens on an address of this host, which must be "ip:port".
func (h *Host) Gossip(addr string) (*Gossip, error) {
	at, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, err
	}
	l, err := h.Listen(addr)
	if err != nil {
		return nil, err
	}
	g := &Gossip{
		host: h, at: at, listener: l,
		packets: make(chan *memberlist.Packet, packetsMax), streams: make(chan net.Conn), down: make(chan struct{}),
	}
	h.net.mu.Lock()
	h.net.packets[h.name] = g
	h.net.mu.Unlock()
	go g.accept()
	return g, nil
}

func (g *Gossip) accept() {
	for {
		c, err := g.listener.Accept()
		if err != nil {
			return
		}
		select {
		case g.streams <- c:
		case <-g.down:
			_ = c.Close()
		}
	}
}

// FinalAdvertiseAddr implements memberlist.Transport.
func (g *Gossip) FinalAdvertiseAddr(string, int) (net.IP, int, error) { return g.at.IP, g.at.Port, nil }

// PacketCh implements memberlist.Transport.
func (g *Gossip) PacketCh() <-chan *memberlist.Packet { return g.packets }

// StreamCh implements memberlist.Transport.
func (g *Gossip) StreamCh() <-chan net.Conn { return g.streams }

// WriteTo implements memberlist.Transport.
func (g *Gossip) WriteTo(raw []byte, addr string) (time.Time, error) {
	n, from := g.host.net, g.host.name
	to := n.hostOf(addr)
	for _, d := range n.packet(pair{from, to}) {
		n.message(from, to+"/gossip", raw, d)
		p := &memberlist.Packet{Buf: append([]byte(nil), raw...), From: g.at}
		time.AfterFunc(d, func() { n.deliver(to, p) })
	}
	return time.Now(), nil
}

// packet draws when the copies of a packet arrive: none if it is lost.
func (n *Network) packet(p pair) (delays []time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.link(p)
	if l.Cut || l.Loss > 0 && n.draw.Float64() < l.Loss {
		return nil
	}
	n.sent++
	delays = append(delays, n.once(l))
	if l.Duplicate > 0 && n.draw.Float64() < l.Duplicate {
		delays = append(delays, n.once(l))
	}
	return delays
}

// deliver gives a packet to the process that then listens.
func (n *Network) deliver(to string, p *memberlist.Packet) {
	n.mu.Lock()
	g := n.packets[to]
	n.mu.Unlock()
	if g == nil {
		return
	}
	p.Timestamp = time.Now()
	select {
	case g.packets <- p:
	default:
	}
}

// DialTimeout implements memberlist.Transport.
func (g *Gossip) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return g.host.Dial(ctx, addr)
}

// Shutdown implements memberlist.Transport.
func (g *Gossip) Shutdown() error {
	g.once.Do(func() {
		n := g.host.net
		n.mu.Lock()
		if n.packets[g.host.name] == g {
			delete(n.packets, g.host.name)
		}
		n.mu.Unlock()
		close(g.down)
		_ = g.listener.Close()
	})
	return nil
}
