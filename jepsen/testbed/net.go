package testbed

import (
	"errors"
	"fmt"
	"net/netip"

	"dormouse/jepsen/testbed/packet"
)

// Clients is the name of the host that Dial dials from, as Net knows it.
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

// Link is what happens to packets that go from one host to another.
type Link = packet.Link

// Net is the network between the hosts. Links are sound unless Set says
// otherwise.
type Net struct {
	packets *packet.Switch
	clients *packet.Namespace
}

// openNet makes the network with the clients' host on it.
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

// attach makes a namespace for a host.
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

// close takes the network down; the hosts' namespaces are theirs.
func (n *Net) close() error {
	n.clients.Close()
	return n.packets.Close()
}

// Set says what holds from now on for the packets of a class from one host to
// another, by the names of hosts or Clients; the way back is a link of its
// own. The last Set of the same three wins; what holds for AllPorts and for a
// class adds up. A host that is not there is a mistake of the caller's.
func (n *Net) Set(from, to string, ports Ports, l Link) {
	if err := n.packets.Set(from, to, ports, l); err != nil {
		panic(fmt.Sprintf("testbed: %v", err))
	}
}

// HealAll makes every link sound.
func (n *Net) HealAll() { n.packets.HealAll() }

// Net is the network between the hosts; nil where it cannot be made to fail.
func (b *Bed) Net() *Net { return b.net }
