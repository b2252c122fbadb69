package transport

import (
	"net"
	"sync"
)

// handshaking holds the accepted connections whose handshake is not complete. It is
// bounded. A new connection is always let in: if the bound is reached, the oldest
// one of the address with the most connections is closed. So connections that send
// nothing cannot keep out the nodes, whose handshakes take milliseconds.
type handshaking struct {
	max int

	mu    sync.Mutex
	conns []*conn // the oldest first; guarded by mu
}

// add adds c, and returns the connection that must be closed for it, or nil.
func (h *handshaking) add(c *conn) (victim *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.conns) >= h.max {
		i := h.mostOf()
		victim = h.conns[i]
		h.conns = append(h.conns[:i], h.conns[i+1:]...)
	}
	h.conns = append(h.conns, c)
	return victim
}

// mostOf returns the index of the oldest connection of the address with the most.
// h.mu is held.
func (h *handshaking) mostOf() int {
	first, count := map[string]int{}, map[string]int{}
	most := ""
	for i, c := range h.conns {
		host := hostOf(c.RemoteAddr())
		if count[host]++; count[host] == 1 {
			first[host] = i
		}
		if count[host] > count[most] {
			most = host
		}
	}
	return first[most]
}

// remove removes c, if it is there.
func (h *handshaking) remove(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, other := range h.conns {
		if other == c {
			h.conns = append(h.conns[:i], h.conns[i+1:]...)
			return
		}
	}
}

// hostOf returns the host of an address.
func hostOf(addr net.Addr) string {
	host, _, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	return host
}
