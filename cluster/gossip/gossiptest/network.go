// Package gossiptest is an in-memory network for gossip, for tests in virtual time.
// Its links can be cut and slowed. Memberlist's own mock blocks without end on a
// node that is gone.
package gossiptest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"dormouse/cluster/gossip"
)

// packetsMax is how many packets wait for a node; further ones are lost, as on
// the wire.
const packetsMax = 1024

// Network connects nodes by their addresses, which must be IP and port.
type Network struct {
	mu    sync.Mutex
	hosts map[string]*host
	cut   map[[2]string]bool // from, to
	delay time.Duration
}

// New makes a network without nodes.
func New() *Network {
	return &Network{hosts: map[string]*host{}, cut: map[[2]string]bool{}, delay: time.Millisecond}
}

// Listen is the transport of the node at addr. It takes the place of one that
// was shut down.
func (n *Network) Listen(addr string) (gossip.Transport, error) {
	at, err := net.ResolveUDPAddr("udp", addr)
	if err != nil || at.IP == nil {
		return nil, fmt.Errorf("gossiptest: %q is no IP and port: %w", addr, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if old := n.hosts[at.String()]; old != nil {
		return nil, fmt.Errorf("gossiptest: %s is in use", addr)
	}
	h := &host{
		network: n, at: at, packets: make(chan *memberlist.Packet, packetsMax),
		streams: make(chan net.Conn), down: make(chan struct{}), open: map[net.Conn]string{},
	}
	n.hosts[at.String()] = h
	return h, nil
}

// Cut severs or restores the link from one address to another, one way, and
// breaks the streams between them.
func (n *Network) Cut(from, to string, severed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[[2]string{from, to}] = severed
	if !severed {
		return
	}
	for _, pair := range [][2]string{{from, to}, {to, from}} {
		if h := n.hosts[pair[0]]; h != nil {
			h.breakStreams(pair[1])
		}
	}
}

// Split severs all links between the two groups of addresses, both ways.
func (n *Network) Split(a, b []string) {
	for _, x := range a {
		for _, y := range b {
			n.Cut(x, y, true)
			n.Cut(y, x, true)
		}
	}
}

// Heal restores all links.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.cut)
}

// SetDelay sets how long a packet travels.
func (n *Network) SetDelay(delay time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delay = delay
}

func (n *Network) reach(from, to string) (*host, time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hosts[from] == nil || n.cut[[2]string{from, to}] {
		return nil, n.delay
	}
	return n.hosts[to], n.delay
}

// host is one node's transport.
type host struct {
	network *Network
	at      *net.UDPAddr
	packets chan *memberlist.Packet
	streams chan net.Conn
	down    chan struct{} // closed by Shutdown

	mu   sync.Mutex
	open map[net.Conn]string // the other host; guarded by mu
}

func (h *host) FinalAdvertiseAddr(string, int) (net.IP, int, error) { return h.at.IP, h.at.Port, nil }
func (h *host) PacketCh() <-chan *memberlist.Packet                 { return h.packets }
func (h *host) StreamCh() <-chan net.Conn                           { return h.streams }

func (h *host) WriteTo(raw []byte, addr string) (time.Time, error) {
	to, delay := h.network.reach(h.at.String(), addr)
	if to != nil {
		raw = append([]byte(nil), raw...)
		time.AfterFunc(delay, func() {
			select {
			case to.packets <- &memberlist.Packet{Buf: raw, From: h.at, Timestamp: time.Now()}:
			default:
			}
		})
	}
	return time.Now(), nil
}

func (h *host) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return h.DialContext(ctx, addr)
}

func (h *host) DialContext(ctx context.Context, addr string) (net.Conn, error) {
	to, _ := h.network.reach(h.at.String(), addr)
	if back, _ := h.network.reach(addr, h.at.String()); to == nil || back == nil { // a stream needs both ways
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-h.down:
			return nil, net.ErrClosed
		}
	}
	near, far := net.Pipe()
	select {
	case to.streams <- far:
	case <-to.down:
		return nil, net.ErrClosed
	case <-h.down:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open[near] = addr
	return stream{Conn: near, host: h}, nil
}

// stream forgets itself when it is closed.
type stream struct {
	net.Conn
	host *host
}

func (s stream) Close() error {
	s.host.mu.Lock()
	delete(s.host.open, s.Conn)
	s.host.mu.Unlock()
	return s.Conn.Close()
}

func (h *host) breakStreams(to string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for conn, addr := range h.open {
		if to == "" || addr == to {
			_ = conn.Close() // a pipe
			delete(h.open, conn)
		}
	}
}

func (h *host) Shutdown() error {
	h.network.mu.Lock()
	delete(h.network.hosts, h.at.String())
	h.network.mu.Unlock()
	close(h.down)
	h.breakStreams("")
	return nil
}
