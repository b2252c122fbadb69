package testbed

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
)

// The ports of a node, as offsets from its base port.
const (
	httpPort = iota
	grpcPort
	raftPort
	gossipPort
	redisPort
	portsPerNode
)

const (
	// portBase is the base port of every node that has its own address.
	portBase = 7600
	// portStride is the distance between the base ports of nodes that share an
	// address.
	portStride = 10
	// hostsMax bounds the number of hosts that a testbed ever has, added ones
	// included.
	hostsMax = 64
	// The range of base ports on loopback, below the ephemeral ports of Linux.
	loopbackFirst, loopbackLast = 10_000, 32_000
)

// place is the address of a node.
type place struct {
	ip   netip.Addr
	base int
}

// on returns the address of one of the node's ports.
func (p place) on(port int) string {
	return net.JoinHostPort(p.ip.String(), strconv.Itoa(p.base+port))
}

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// subnet is the network of the hosts: host N has the address N in it, the clients have
// clientsAt. It exists only within the namespaces.
var subnet = netip.MustParsePrefix("10.77.0.0/24")

const clientsAt = 250

func hostAddr(n int) netip.Addr {
	a := subnet.Addr().As4()
	a[3] = byte(n)
	return netip.AddrFrom4(a)
}

// freePorts finds an unused range of ports on loopback for hostsMax hosts and returns
// its first port.
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
