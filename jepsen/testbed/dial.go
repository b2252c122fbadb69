package testbed

import (
	"context"
	"net"
	"net/http"
	"syscall"

	"golang.org/x/sys/unix"

	"dormouse/jepsen/testbed/packet"
)

// Dial connects to a TCP address, of numbers only, from the clients' host.
func (b *Bed) Dial(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	if b.net != nil {
		d.Control = from(b.net.clients)
	}
	return d.DialContext(ctx, "tcp4", addr)
}

// observer asks a host's node from the host itself: whatever was done to the
// network, the harness goes on seeing. A connection serves one question, lest
// one be asked of a process that is gone.
func observer(host *packet.Namespace) *http.Client {
	d := net.Dialer{Control: from(host)}
	return &http.Client{Transport: &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true}}
}

// from moves a socket that is not connected yet to a namespace. A socket
// belongs to the namespace of the thread that made it; what follows, contexts
// and all, is the dialer's as always. So no thread waits for a connection that
// a cut holds up.
func from(space *packet.Namespace) func(network, addr string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		var moved error
		err := c.Control(func(fd uintptr) {
			moved = space.Do(func() error {
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
}
