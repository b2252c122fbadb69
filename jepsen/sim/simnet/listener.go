package simnet

import (
	"cmp"
	"net"
	"slices"
	"sync"
)

// listener accepts the connections to one address.
type listener struct {
	host    *Host
	addr    string
	backlog chan *conn
	once    sync.Once
	done    chan struct{} // closed by Close
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.done:
		return nil, net.ErrClosed
	default:
	}
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
		n := l.host.net
		n.mu.Lock()
		delete(n.listeners, l.addr)
		n.mu.Unlock()
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

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return address(l.addr) }

// sortListeners sorts listeners by their addresses, so that they are closed in one order.
func sortListeners(all []*listener) {
	slices.SortFunc(all, func(a, b *listener) int { return cmp.Compare(a.addr, b.addr) })
}
