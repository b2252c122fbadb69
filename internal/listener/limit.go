// Package listener bounds the connections that a server accepts.
package listener

import (
	"net"
	"sync"

	"dormouse/internal/budget"
)

// Limit returns a listener that has at most total connections open, and half of that for one caller.
// If all are in use it accepts no more, and clients wait in the kernel's backlog. It closes a new
// connection of a caller that has its share. It also waits until room returns true or the listener
// is closed; room may be nil.
func Limit(l net.Listener, total int, room func(closed <-chan struct{}) bool) net.Listener {
	return &limited{Listener: l, slots: make(chan struct{}, total), shares: budget.New(int64(total)), room: room, closed: make(chan struct{})}
}

type limited struct {
	net.Listener
	slots  chan struct{} // one per open connection
	shares *budget.Pool
	room   func(closed <-chan struct{}) bool
	closed chan struct{}
	once   sync.Once
}

// Accept implements net.Listener.
func (l *limited) Accept() (net.Conn, error) {
	for {
		select {
		case l.slots <- struct{}{}:
		case <-l.closed:
			return nil, net.ErrClosed
		}
		if l.room != nil && !l.room(l.closed) {
			<-l.slots
			return nil, net.ErrClosed
		}
		c, err := l.Listener.Accept()
		if err != nil {
			<-l.slots
			return nil, err //nolint:wrapcheck // servers look at its type
		}
		caller := budget.Caller(c.RemoteAddr().String())
		if !l.shares.Try(caller, 1) {
			<-l.slots
			_ = c.Close() // the client sees its end
			continue
		}
		return &conn{Conn: c, release: sync.OnceFunc(func() {
			l.shares.Give(caller, 1)
			<-l.slots
		})}, nil
	}
}

// Close implements net.Listener.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close() //nolint:wrapcheck // the listener's own
}

type conn struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err //nolint:wrapcheck // the connection's own
}
