// Package clustertest is a network in memory, for tests in virtual time.
//
// A Network has hosts, and between every two of them two directed links that
// can be cut, healed and slowed down. What is sent over a cut link is not lost
// but late, as under TCP; a connection attempt waits. Nothing here starts a
// goroutine or touches a socket, so a whole cluster runs in a synctest bubble.
package clustertest

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"dormouse/internal/memconn"
	"dormouse/internal/pause"
)

// LatencyDefault is how long a link takes where nothing else was said.
const LatencyDefault = time.Millisecond

type link struct{ from, to string }

// Network connects hosts. Its methods may be called concurrently.
type Network struct {
	mu        sync.Mutex
	cut       map[link]bool                // guarded by mu
	delay     map[link]time.Duration       // guarded by mu
	listeners map[string]*memconn.Listener // address → who listens; guarded by mu
	conns     map[*memconn.Conn]struct{}   // open ones; guarded by mu
	changed   chan struct{}                // closed and replaced when a link or listener changes; guarded by mu
}

// NewNetwork makes a network without a fault.
func NewNetwork() *Network {
	return &Network{
		cut: make(map[link]bool), delay: make(map[link]time.Duration), listeners: make(map[string]*memconn.Listener),
		conns: make(map[*memconn.Conn]struct{}), changed: make(chan struct{}),
	}
}

// Host is the network as one host sees it: what a node is given. Addresses are
// "host:port", where the port is any text.
func (n *Network) Host(name string) *Host { return &Host{net: n, name: name} }

// Block cuts the link from one host to another, one way.
func (n *Network) Block(from, to string) { n.set(func() { n.cut[link{from, to}] = true }) }

// Heal mends the link from one host to another, one way.
func (n *Network) Heal(from, to string) { n.set(func() { delete(n.cut, link{from, to}) }) }

// HealAll mends every link.
func (n *Network) HealAll() { n.set(func() { clear(n.cut) }) }

// Isolate cuts a host off from the others, both ways.
func (n *Network) Isolate(host string, others ...string) {
	n.set(func() {
		for _, other := range others {
			if other != host {
				n.cut[link{host, other}], n.cut[link{other, host}] = true, true
			}
		}
	})
}

// Delay makes the link from one host to another take d.
func (n *Network) Delay(from, to string, d time.Duration) {
	n.set(func() { n.delay[link{from, to}] = d })
}

// Crash closes all that a host has open, as its kernel does when a process
// dies. The host can listen and dial again.
func (n *Network) Crash(host string) {
	n.mu.Lock()
	var conns []*memconn.Conn
	for c := range n.conns {
		if c.Host() == host {
			conns = append(conns, c)
		}
	}
	var listeners []*memconn.Listener
	for addr, l := range n.listeners {
		if hostOf(addr) == host {
			listeners = append(listeners, l)
		}
	}
	n.mu.Unlock()
	for _, l := range listeners {
		_ = l.Close()
	}
	for _, c := range conns {
		_ = c.Close()
	}
}

// Open counts the connections of a host that it has not closed.
func (n *Network) Open(host string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	open := 0
	for c := range n.conns {
		if c.Host() == host {
			open++
		}
	}
	return open
}

// set changes the network and wakes all who wait for it.
func (n *Network) set(change func()) {
	n.mu.Lock()
	change()
	close(n.changed)
	n.changed = make(chan struct{})
	conns := make([]*memconn.Conn, 0, len(n.conns))
	for c := range n.conns {
		conns = append(conns, c)
	}
	n.mu.Unlock()
	for _, c := range conns {
		c.Wake()
	}
}

// state returns whether a link is cut, and its delay.
func (n *Network) state(l link) (cut bool, d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	d, known := n.delay[l]
	if !known {
		d = LatencyDefault
	}
	return n.cut[l], d
}

// paths implements memconn.Network.
type paths struct{ *Network }

func (p paths) Send(from, to string, _ []byte) time.Duration {
	_, d := p.state(link{from, to})
	return d
}

func (p paths) IsCut(from, to string) bool {
	cut, _ := p.state(link{from, to})
	return cut
}

func (p paths) Forget(c *memconn.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func hostOf(addr string) string {
	host, _, _ := strings.Cut(addr, ":")
	return host
}

// Host implements transport.Network for one host.
type Host struct {
	net  *Network
	name string
}

// Listen listens on an address of this host.
func (h *Host) Listen(addr string) (net.Listener, error) {
	if hostOf(addr) != h.name {
		return nil, fmt.Errorf("listen on %s: not an address of host %s", addr, h.name)
	}
	l := memconn.NewListener(address(addr), func() {
		h.net.mu.Lock()
		defer h.net.mu.Unlock()
		delete(h.net.listeners, addr)
	})
	h.net.mu.Lock()
	_, taken := h.net.listeners[addr]
	if !taken {
		h.net.listeners[addr] = l
	}
	h.net.mu.Unlock()
	if taken {
		return nil, fmt.Errorf("listen on %s: address already in use", addr)
	}
	h.net.set(func() {})
	return l, nil
}

// Dial connects to an address; over a cut link it waits.
func (h *Host) Dial(ctx context.Context, addr string) (net.Conn, error) {
	there, back := link{h.name, hostOf(addr)}, link{hostOf(addr), h.name}
	for {
		h.net.mu.Lock()
		changed := h.net.changed
		h.net.mu.Unlock()
		cutThere, d1 := h.net.state(there)
		cutBack, d2 := h.net.state(back)
		if !cutThere && !cutBack {
			if !pause.For(ctx, d1+d2) {
				return nil, dialError(addr, ctx.Err())
			}
			return h.connect(addr)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, dialError(addr, ctx.Err())
		}
	}
}

func (h *Host) connect(addr string) (net.Conn, error) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	l, ok := h.net.listeners[addr]
	if !ok {
		return nil, dialError(addr, syscall.ECONNREFUSED)
	}
	mine, theirs := memconn.Pair(paths{h.net}, h.name, hostOf(addr), address(h.name), address(addr))
	if err := l.Offer(theirs); err != nil {
		return nil, dialError(addr, err)
	}
	h.net.conns[mine], h.net.conns[theirs] = struct{}{}, struct{}{}
	return mine, nil
}

func dialError(addr string, err error) error {
	return &net.OpError{Op: "dial", Net: "memory", Addr: address(addr), Err: err}
}

type address string

func (address) Network() string  { return "memory" }
func (a address) String() string { return string(a) }
