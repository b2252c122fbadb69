package simnet

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"syscall"

	"dormouse/internal/memconn"
	"dormouse/internal/pause"
)

// Host is the network as one process of a host sees it. It implements transport.Network.
type Host struct {
	net  *Network
	name string

	mu   sync.Mutex
	dead bool // guarded by mu
}

// Host returns the network as a new process of a host sees it. Addresses of the host are
// "name:port" and "ip:port", where the port is any text.
func (n *Network) Host(name, ip string) *Host {
	n.mu.Lock()
	defer n.mu.Unlock()
	if ip != "" {
		n.names[ip] = name
	}
	return &Host{net: n, name: name}
}

// Kill ends all that the process has open. The other ends of its connections are told, as
// by the kernel of a host whose process has died, unless the host itself has ended.
func (h *Host) Kill(silent bool) {
	h.mu.Lock()
	h.dead = true
	h.mu.Unlock()
	h.net.mu.Lock()
	var conns []*conn
	for _, c := range h.net.conns {
		if c.host == h {
			conns = append(conns, c)
		}
	}
	var listeners []*listener
	for _, l := range h.net.listeners {
		if l.host == h {
			listeners = append(listeners, l)
		}
	}
	if g := h.net.packets[h.name]; g != nil && g.host == h {
		delete(h.net.packets, h.name)
	}
	h.net.mu.Unlock()
	slices.SortFunc(listeners, func(a, b *listener) int { return cmp.Compare(a.addr, b.addr) }) // the map has no order
	for _, l := range listeners {
		_ = l.Close()
	}
	for _, c := range conns {
		c.End(silent)
	}
}

func (h *Host) isDead() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dead
}

// Listen listens on an address of this host.
func (h *Host) Listen(addr string) (net.Listener, error) {
	switch {
	case h.isDead():
		return nil, net.ErrClosed
	case h.net.hostOf(addr) != h.name:
		return nil, fmt.Errorf("listen on %s: not an address of host %s", addr, h.name)
	}
	l := &listener{host: h, addr: addr, Listener: memconn.NewListener(address(addr), func() {
		h.net.mu.Lock()
		defer h.net.mu.Unlock()
		delete(h.net.listeners, addr)
	})}
	h.net.mu.Lock()
	_, taken := h.net.listeners[addr]
	if !taken {
		h.net.listeners[addr] = l
	}
	h.net.mu.Unlock()
	if taken {
		return nil, inUse(addr)
	}
	h.net.news()
	return l, nil
}

// Dial connects to an address. Over a cut link it waits.
func (h *Host) Dial(ctx context.Context, addr string) (net.Conn, error) {
	to := h.net.hostOf(addr)
	there, back := pair{h.name, to}, pair{to, h.name}
	for {
		if h.isDead() {
			return nil, dialError(addr, net.ErrClosed)
		}
		h.net.mu.Lock()
		changed := h.net.changed
		h.net.mu.Unlock()
		if !h.net.isCut(there) && !h.net.isCut(back) {
			if !pause.For(ctx, h.net.transit(there)+h.net.transit(back)) {
				return nil, dialError(addr, context.Cause(ctx))
			}
			return h.connect(addr, to)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, dialError(addr, ctx.Err())
		}
	}
}

func (h *Host) connect(addr, to string) (net.Conn, error) {
	if h.isDead() {
		return nil, dialError(addr, net.ErrClosed)
	}
	n := h.net
	n.mu.Lock()
	defer n.mu.Unlock()
	l, listening := n.listeners[addr]
	if !listening || n.refused[pair{h.name, to}] {
		return nil, dialError(addr, syscall.ECONNREFUSED)
	}
	mine, theirs := memconn.Pair(paths{n}, h.name, to, address(h.name), address(addr))
	if err := l.Offer(theirs); err != nil {
		return nil, dialError(addr, err)
	}
	made := pair{h.name, to}
	n.conns = append(n.conns, &conn{mine, h, made}, &conn{theirs, l.host, made})
	n.trace.Note("dial", h.name+">"+addr)
	return mine, nil
}

func dialError(addr string, err error) error {
	return &net.OpError{Op: "dial", Net: "sim", Addr: address(addr), Err: err}
}

type address string

func (address) Network() string  { return "sim" }
func (a address) String() string { return string(a) }
