// Package packet is a packet switch in user space, for networks that fail on
// purpose. Each host is a network namespace with one TUN device; what it sends
// comes to the switch as IPv4 packets, and the switch gives them to the
// device of the host that they are addressed to, as the link between the two
// has it: cut, delayed, lost, doubled, out of order or garbled. Links are
// directed, and may differ by class of port.
//
// There is no Ethernet and no ARP below the packets: a link that is cut one
// way stays whole the other way.
//
// One goroutine serves each host, what it sends and what of that is under way.
// Nothing is queued on a link that neither delays nor has something under way;
// on one that does, a bounded number of bytes is, and the rest is dropped.
package packet
