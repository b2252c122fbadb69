// Package hostcheck decides whether the Host of an HTTP request is one that a server is
// known by. A page of another site can make a browser send requests to a server of the
// local network, by pointing its own name there (DNS rebinding). Such requests carry
// that name. It also tells which addresses are of this machine.
package hostcheck

import (
	"net"
	"net/netip"
	"strings"
)

// Allowed reports whether a server with these names serves requests for host, with or
// without a port. It always serves IP addresses, which no name can be pointed at, and
// the names of loopback. An empty host, as of HTTP/1.0, is allowed: browsers send one.
func Allowed(host string, names []string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return true
	}
	for _, known := range names {
		if strings.EqualFold(name, known) {
			return true
		}
	}
	return false
}
