// Package packet is a packet switch in user space, for tests that inject network faults.
// Each host is a network namespace with one TUN device. The switch reads the IPv4 packets
// that a host sends, and writes each one to the device of its destination. On the way it
// applies the faults of the link between the two hosts: cut, delay, loss, duplication,
// reordering or corruption. Links are directed, and may differ by class of port.
//
// There is no Ethernet and no ARP below the packets: a link that is cut in one direction
// still works in the other one.
//
// One goroutine serves each host: it forwards the packets that the host sends, and holds
// those in flight. A packet is queued only if its link delays it, or if other packets of
// the link are in flight. The bytes in flight are bounded; packets above the bound are
// dropped.
package packet
