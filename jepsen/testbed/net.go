package testbed

import (
	"errors"
	"fmt"
	"net/netip"

	"dormouse/jepsen/testbed/packet"
)

// Clients is the name in Net of the host that Dial dials from.
const Clients = "c"

// Ports is a class of traffic between hosts.
type Ports = packet.Class

// The classes.
const (
	AllPorts    = packet.All
	RaftPorts   = Ports(1) // Raft, and what nodes ask of each other
	GossipPorts = Ports(2)
	ClientPorts = Ports(3) // HTTP and gRPC
)

var classOf = map[uint16]Ports{
	portBase + httpPort:   ClientPorts,
	portBase + grpcPort:   ClientPorts,
	portBase + raftPort:   RaftPorts,
	portBase + gossipPort: GossipPorts,
}

// Link is the behaviour of one direction between two hosts.
type Link = packet.Link

// Net is the network between the hosts. Links are fault-free unless Set changes them.
type Net struct {
	packets *packet.Switch
	clients *packet.Namespace
}

// openNet creates the network with the clients' host.
func openNet() (*Net, error) {
	clients, err := packet.NewNamespace()
	if err != nil {
		return nil, err
	}
	n := &Net{packets: packet.New(subnet, classOf), clients: clients}
	if err := n.packets.Attach(Clients, clients, hostAddr(clientsAt)); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

// attach creates a namespace for a host.
func (n *Net) attach(name string, addr netip.Addr) (*packet.Namespace, error) {
	space, err := packet.NewNamespace()
	if err != nil {
		return nil, err
	}
	if err := n.packets.Attach(name, space, addr); err != nil {
		space.Close()
		return nil, err
	}
	return space, nil
}

// close removes the network; the hosts close their namespaces.
func (n *Net) close() error {
	n.clients.Close()
	return n.packets.Close()
}

// Set sets the behaviour of packets of a class from one host to another, by the names
// of hosts or Clients. The opposite direction is a link of its own. A later Set of the
// same three arguments replaces an earlier one; settings of AllPorts and of a class
// add up. Set panics if a host does not exist.
func (n *Net) Set(from, to string, ports Ports, l Link) {
	if err := n.packets.Set(from, to, ports, l); err != nil {
		panic(fmt.Sprintf("testbed: %v", err))
	}
}

// HealAll removes the faults of every link.
func (n *Net) HealAll() { n.packets.HealAll() }

// Net returns the network between the hosts, or nil if it cannot be made to fail.
func (b *Bed) Net() *Net { return b.net }
