package memconn

import (
	"errors"
	"net"
	"sync"
)

// backlog bounds the connections that a listener has not accepted.
const backlog = 128

// ErrBacklog says that a listener has too many connections that it has not accepted.
var ErrBacklog = errors.New("the backlog is full")

// Listener accepts the connections to one address. It implements net.Listener.
type Listener struct {
	addr   net.Addr
	closed func()
	conns  chan net.Conn
	once   sync.Once
	done   chan struct{} // closed by Close
}

// NewListener returns a listener of an address. Its Close calls closed once, before it closes the
// connections that were not accepted.
func NewListener(addr net.Addr, closed func()) *Listener {
	return &Listener{addr: addr, closed: closed, conns: make(chan net.Conn, backlog), done: make(chan struct{})}
}

// Offer gives a connection to Accept. It does not wait; it returns ErrBacklog if there is no room.
func (l *Listener) Offer(c net.Conn) error {
	select {
	case l.conns <- c:
		return nil
	default:
		return ErrBacklog
	}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case <-l.done:
		return nil, net.ErrClosed
	default:
	}
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It also closes the connections that were not accepted.
func (l *Listener) Close() error {
	l.once.Do(func() {
		l.closed()
		close(l.done)
		for {
			select {
			case c := <-l.conns:
				_ = c.Close() // never fails
			default:
				return
			}
		}
	})
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return l.addr }
