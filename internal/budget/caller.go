package budget

import (
	"net"
	"net/netip"
)

// Caller returns the caller behind an address of a connection: the IP address without the port, or
// the network of 64 bits for IPv6, of which one machine may use every address. A principal can take
// its place once calls have one.
func Caller(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if ip = ip.Unmap(); ip.Is4() {
		return ip.String()
	}
	network, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return host
	}
	return network.String()
}
