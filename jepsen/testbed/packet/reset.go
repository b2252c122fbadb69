package packet

import "encoding/binary"

// The flags of a TCP header.
const (
	tcpFIN = 1 << iota
	tcpSYN
	tcpRST
	_
	tcpACK
)

// resetTo returns the reset with which a host where nothing listens answers a TCP packet
// (RFC 9293, 3.5.2); nil if the packet is a reset itself. h is the packet's header.
func resetTo(packet []byte, h header) []byte {
	segment := packet[h.payload:]
	flags := segment[13]
	if flags&tcpRST != 0 {
		return nil
	}
	r := newReset(packet[16:20], packet[12:16], segment[2:4], segment[0:2])
	t := r[ipHeaderMin:]
	if flags&tcpACK != 0 {
		copy(t[4:8], segment[8:12])
	} else {
		t[13] |= tcpACK
		binary.BigEndian.PutUint32(t[8:], binary.BigEndian.Uint32(segment[4:])+sequenceLength(segment, flags))
	}
	return sealed(r)
}

// resetInPlaceOf returns the reset that tells the receiver of a TCP packet that its sender has
// ended; nil if the packet begins a connection, which the receiver does not know yet. The
// receiver believes it, since its sequence number is the one that the receiver expects.
func resetInPlaceOf(packet []byte, h header) []byte {
	segment := packet[h.payload:]
	if segment[13]&(tcpRST|tcpSYN) != 0 {
		return nil
	}
	r := newReset(packet[12:16], packet[16:20], segment[0:2], segment[2:4])
	copy(r[ipHeaderMin+4:], segment[4:8])
	return sealed(r)
}

// newReset returns a reset between two addresses and their ports, without numbers and checksums.
func newReset(from, to, fromPort, toPort []byte) []byte {
	r := make([]byte, ipHeaderMin+tcpHeaderMin)
	r[0], r[8], r[9] = 0x45, 64, protocolTCP
	binary.BigEndian.PutUint16(r[2:], uint16(len(r)))
	copy(r[12:16], from)
	copy(r[16:20], to)
	t := r[ipHeaderMin:]
	copy(t[0:2], fromPort)
	copy(t[2:4], toPort)
	t[12], t[13] = tcpHeaderMin/4<<4, tcpRST
	return r
}

// sealed returns the packet with its checksums. That of TCP also covers the addresses, the protocol
// and the length.
func sealed(r []byte) []byte {
	binary.BigEndian.PutUint16(r[10:], checksum(0, r[:ipHeaderMin]))
	t := r[ipHeaderMin:]
	pseudo := sum(sum(0, r[12:20]), []byte{0, protocolTCP, 0, tcpHeaderMin})
	binary.BigEndian.PutUint16(t[16:], checksum(pseudo, t))
	return r
}

// sequenceLength returns how many sequence numbers a segment takes.
func sequenceLength(segment []byte, flags byte) uint32 {
	n := uint32(max(0, len(segment)-int(segment[12]>>4)*4))
	if flags&tcpSYN != 0 {
		n++
	}
	if flags&tcpFIN != 0 {
		n++
	}
	return n
}

// sum adds the 16-bit words of data, whose length is even, to s.
func sum(s uint32, data []byte) uint32 {
	for i := 0; i < len(data); i += 2 {
		s += uint32(binary.BigEndian.Uint16(data[i:]))
	}
	return s
}

// checksum returns the Internet checksum of data and of what was added up before.
func checksum(before uint32, data []byte) uint16 {
	s := sum(before, data)
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return ^uint16(s)
}
