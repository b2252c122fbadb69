package testbed

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"syscall"

	"golang.org/x/sys/unix"

	"dormouse/jepsen/testbed/packet"
)

// Dial connects to a TCP address (numeric) from the clients' host.
func (b *Bed) Dial(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	if b.net != nil {
		d.Control = from(b.net.clients)
	}
	return d.DialContext(ctx, "tcp4", addr)
}

// URL returns the URL of a host's HTTP API for clients.
func (b *Bed) URL(h *Host) string {
	if b.TLS() != nil {
		return "https://" + h.HTTP()
	}
	return "http://" + h.HTTP()
}

// Redis returns the address of a host's server for clients of Redis, which runs if the options name its scope.
func Redis(h *Host) string { return h.place.on(redisPort) }

// observer returns an HTTP client that calls a host's node from the host itself, so
// that network faults do not blind the harness. Each request has its own connection,
// so that none uses a connection to a process that has ended. A nil t means no TLS.
func observer(host *packet.Namespace, t *tls.Config) *http.Client {
	d := net.Dialer{Control: from(host)}
	return &http.Client{Transport: &http.Transport{DialContext: d.DialContext, TLSClientConfig: t, DisableKeepAlives: true}}
}

// from returns a control function that moves an unconnected socket to a namespace. A
// socket belongs to the namespace of the thread that created it. Everything else
// remains with the dialer, so no thread waits for a connection that a cut delays.
func from(space *packet.Namespace) func(network, addr string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		var moved error
		err := c.Control(func(fd uintptr) {
			moved = space.Do(func() error {
				socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
				if err != nil {
					return err
				}
				defer func() { _ = unix.Close(socket) }() // fd refers to it now
				return unix.Dup3(socket, int(fd), unix.O_CLOEXEC)
			})
		})
		if err != nil {
			return err
		}
		return moved
	}
}
