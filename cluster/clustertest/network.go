// Package clustertest is a network in memory, for tests in virtual time.
//
// A Network has hosts, and between every two of them two directed links that
// can be cut, healed and slowed down. What is sent over a cut link is not lost
// but late, as under TCP; a connection attempt waits. Nothing here starts a
// goroutine or touches a socket, so a whole cluster runs in a synctest bubble.
package clustertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"
)

// LatencyDefault is how long a link takes where nothing else was said.
const LatencyDefault = time.Millisecond

// acceptBacklog bounds the connections that a listener has not accepted.
const acceptBacklog = 128

type link struct{ from, to string }

// Network connects hosts. Its methods may be called concurrently.
type Network struct {
	mu        sync.Mutex
	cut       map[link]bool          // guarded by mu
	delay     map[link]time.Duration // guarded by mu
	listeners map[string]*listener   // address → who listens; guarded by mu
	conns     map[*conn]struct{}     // open ones; guarded by mu
	changed   chan struct{}          // closed and replaced when a link or listener changes; guarded by mu
}

// NewNetwork makes a network without a fault.
func NewNetwork() *Network {
	return &Network{
		cut: make(map[link]bool), delay: make(map[link]time.Duration), listeners: make(map[string]*listener),
		conns: make(map[*conn]struct{}), changed: make(chan struct{}),
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
	var conns []*conn
	for c := range n.conns {
		if c.out.from == host {
			conns = append(conns, c)
		}
	}
	var listeners []*listener
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
		if c.out.from == host {
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
	conns := make([]*conn, 0, len(n.conns))
	for c := range n.conns {
		conns = append(conns, c)
	}
	n.mu.Unlock()
	for _, c := range conns {
		c.in.nudge()
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
	l := &listener{net: h.net, addr: addr, backlog: make(chan *conn, acceptBacklog), done: make(chan struct{})}
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
			if err := sleep(ctx, d1+d2); err != nil {
				return nil, dialError(addr, err)
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
	there, back := newWire(h.net, h.name, hostOf(addr)), newWire(h.net, hostOf(addr), h.name)
	mine := &conn{net: h.net, in: back, out: there, local: address(h.name), remote: address(addr)}
	theirs := &conn{net: h.net, in: there, out: back, local: address(addr), remote: address(h.name)}
	select {
	case l.backlog <- theirs:
	default:
		return nil, dialError(addr, errors.New("the backlog is full"))
	}
	h.net.conns[mine], h.net.conns[theirs] = struct{}{}, struct{}{}
	return mine, nil
}

func dialError(addr string, err error) error {
	return &net.OpError{Op: "dial", Net: "memory", Addr: address(addr), Err: err}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type address string

func (address) Network() string  { return "memory" }
func (a address) String() string { return string(a) }

type listener struct {
	net     *Network
	addr    string
	backlog chan *conn
	once    sync.Once
	done    chan struct{} // closed by Close
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.backlog:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close also closes what has not been accepted.
func (l *listener) Close() error {
	l.once.Do(func() {
		l.net.mu.Lock()
		delete(l.net.listeners, l.addr)
		l.net.mu.Unlock()
		close(l.done)
		for {
			select {
			case c := <-l.backlog:
				_ = c.Close()
			default:
				return
			}
		}
	})
	return nil
}

func (l *listener) Addr() net.Addr { return address(l.addr) }
