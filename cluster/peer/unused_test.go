package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
)

// Processes come and go under addresses of their own, as hosts do: a pool does not keep a connection
// to each of them for good.
func TestAPoolForgetsPeersThatAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := grpc.NewServer()
		pool := NewPool(func(_ context.Context, addr string) (net.Conn, error) {
			if addr != "up" {
				return nil, errors.New("connection refused")
			}
			here, there := net.Pipe()
			go func() { _ = server.Serve(newOneConn(there)) }()
			return here, nil
		})
		defer server.Stop()
		defer pool.Close()
		reach := func() {
			if _, err := (connected{pool: pool, addr: "up"}).ready(t.Context()); err != nil {
				t.Error(err)
			}
		}
		reach()
		before := runtime.NumGoroutine()
		for n := range 40 {
			if err := pool.Ping(shortly(t), fmt.Sprint("gone-", n)); err == nil {
				t.Fatal("a process that is gone has answered")
			}
			time.Sleep(time.Minute)
		}
		pool.mu.Lock()
		links := len(pool.links)
		pool.mu.Unlock()
		if grown := runtime.NumGoroutine() - before; links > 12 || grown > 60 {
			t.Errorf("%d connections are kept, and %d goroutines more", links, grown)
		}
		reach()
	})
}

func shortly(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	t.Cleanup(cancel)
	return ctx
}

// oneConn is a listener that accepts one connection.
type oneConn struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newOneConn(c net.Conn) *oneConn {
	l := &oneConn{make(chan net.Conn, 1), make(chan struct{})}
	l.conns <- c
	return l
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *oneConn) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

func (*oneConn) Addr() net.Addr { return &net.TCPAddr{} }
