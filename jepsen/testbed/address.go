package testbed

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
)

// The ports of a node, counted from its base.
const (
	httpPort = iota
	grpcPort
	raftPort
	gossipPort
	portsPerNode
)

const (
	// portBase is the first port of every node that has an address to itself.
	portBase = 7600
	// portStride is from node to node where all share one.
	portStride = 10
	// hostsMax is how many hosts a bed has in its life, added ones included.
	hostsMax = 64
	// What loopback has to spare for us lies below the ports that Linux gives
	// to clients by itself.
	loopbackFirst, loopbackLast = 10_000, 32_000
)

// place is where a node is reached.
type place struct {
	ip   netip.Addr
	base int
}

// on is its address for one of its ports.
func (p place) on(port int) string {
	return net.JoinHostPort(p.ip.String(), strconv.Itoa(p.base+port))
}

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// subnet is the network of the hosts: host N has the address N in it, the
// clients have clientsAt. It is seen from within the namespaces only.
var subnet = netip.MustParsePrefix("10.77.0.0/24")

const clientsAt = 250

func hostAddr(n int) netip.Addr {
	a := subnet.Addr().As4()
	a[3] = byte(n)
	return netip.AddrFrom4(a)
}

// freePorts finds a stretch of loopback for all the hosts that a bed may have
// which nobody else uses now, and returns its first port.
func freePorts() (int, error) {
	const stretch = hostsMax * portStride
	slots := (loopbackLast - loopbackFirst) / stretch
	for _, slot := range rand.Perm(slots) {
		base := loopbackFirst + slot*stretch
		if free(base) {
			return base, nil
		}
	}
	return 0, fmt.Errorf("testbed: no free ports on loopback between %d and %d: end what listens there", loopbackFirst, loopbackLast)
}

func free(base int) bool {
	for n := range hostsMax {
		for port := range portsPerNode {
			l, err := net.Listen("tcp", place{loopback, base + n*portStride}.on(port))
			if err != nil {
				return false
			}
			_ = l.Close()
		}
	}
	return true
}
