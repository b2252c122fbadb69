package testbed

import (
	"context"
	"net"
)

// Dial connects to an address from the clients' host.
func (b *Bed) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return dialer(b)(ctx, "tcp", addr)
}

// dialer dials from the clients' host.
func dialer(_ *Bed) func(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext
}
