package testbed

import (
	"context"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Dial connects to a TCP address, of numbers only, from the clients' host.
func (b *Bed) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return b.dial(ctx, "tcp4", addr)
}

func (b *Bed) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	var d net.Dialer
	if b.net != nil {
		d.Control = b.net.control
	}
	return d.DialContext(ctx, "tcp4", addr)
}

// control moves a socket that is not connected yet to the clients' host. A
// socket belongs to the namespace of the thread that made it; what follows,
// contexts and all, is the dialer's as always. So no thread waits for a
// connection that a cut holds up.
func (n *Net) control(_, _ string, c syscall.RawConn) error {
	var moved error
	err := c.Control(func(fd uintptr) {
		moved = n.clients.Do(func() error {
			socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer func() { _ = unix.Close(socket) }() // fd is it now
			return unix.Dup3(socket, int(fd), unix.O_CLOEXEC)
		})
	})
	if err != nil {
		return err
	}
	return moved
}
