package hostcheck

import (
	"net"
	"net/netip"
	"strings"
)

// Loopback reports whether an address, host:port, is of this machine. A name that is not localhost may
// resolve to any address, so it is not.
func Loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
