package client

import (
	"context"

	"google.golang.org/grpc"
)

// connCallsMax is how many calls and watches share a gRPC connection, besides an Exchange stream and the question whether the
// node answers. Nodes bound the streams of a connection, as do proxies, some at 100. A call past that bound waits
// until another one ends, and so does the question, which then takes the node for silent.
const connCallsMax = 96

// sharedConn is a gRPC connection, and how many calls it has.
type sharedConn struct {
	*grpc.ClientConn
	calls int // guarded by the mutex of the connection's owner
}

// withRoom returns the first connection that has room for a call, or nil.
func withRoom(conns []*sharedConn) *sharedConn {
	for _, conn := range conns {
		if conn.calls < connCallsMax {
			return conn
		}
	}
	return nil
}

// usedConn is a connection of a link while a call uses it. Call release when the call has ended.
type usedConn struct {
	*grpc.ClientConn
	link    *link
	release func()
}

// take returns a connection of the link for a call. It makes another one if none has room; if that fails, the
// calls share the first.
func (l *link) take() *usedConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	conn := withRoom(l.conns)
	if conn == nil {
		conn = l.conns[0]
		if made, err := l.dial(); err == nil {
			conn = &sharedConn{ClientConn: made}
			l.conns = append(l.conns, conn)
		}
	}
	conn.calls++
	l.users++
	return &usedConn{ClientConn: conn.ClientConn, link: l, release: func() { l.leave(conn) }}
}

// leave ends the use of a connection.
func (l *link) leave(conn *sharedConn) {
	l.mu.Lock()
	conn.calls--
	l.users--
	stop := l.retired
	unused := stop != nil && l.users == 0
	l.mu.Unlock()
	if unused {
		stop()
		l.closeConns()
	}
}

// retire closes the connections: now, or once the link has no users, or with the pool.
func (l *link) retire() {
	l.mu.Lock()
	unused := l.users == 0
	if !unused {
		l.retired = context.AfterFunc(l.life, l.closeConns)
	}
	l.mu.Unlock()
	if unused {
		l.closeConns()
	}
}

func (l *link) closeConns() {
	l.mu.Lock()
	conns := l.conns
	l.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close() // the error does not matter
	}
}
