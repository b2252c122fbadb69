package packet

import (
	"encoding/binary"
	"math/rand/v2"
)

const (
	ipHeaderMin  = 20
	tcpHeaderMin = 20
	protocolTCP  = 6
	protocolUDP  = 17
	fragmentMask = 0x1fff // the offset of a fragment; the first one's is 0
)

// header holds the fields of a packet that the switch uses.
type header struct {
	to      [4]byte
	payload int // where what follows the IP header begins
	ports   [2]uint16
	ported  bool // there are ports: TCP or UDP, and not a later fragment
	tcp     bool // ported, and a whole TCP header
}

// readHeader reads the header of an IPv4 packet; ok is false for any other packet.
func readHeader(packet []byte) (h header, ok bool) {
	if len(packet) < ipHeaderMin || packet[0]>>4 != 4 {
		return header{}, false
	}
	h.payload = int(packet[0]&0xf) * 4
	if h.payload < ipHeaderMin || h.payload > len(packet) {
		return header{}, false
	}
	copy(h.to[:], packet[16:20])
	protocol, fragment := packet[9], binary.BigEndian.Uint16(packet[6:8])&fragmentMask
	if (protocol == protocolTCP || protocol == protocolUDP) && fragment == 0 && len(packet) >= h.payload+4 {
		h.ports = [2]uint16{binary.BigEndian.Uint16(packet[h.payload:]), binary.BigEndian.Uint16(packet[h.payload+2:])}
		h.ported = true
		h.tcp = protocol == protocolTCP && len(packet) >= h.payload+tcpHeaderMin
	}
	return h, true
}

// garble flips one bit behind the IP header. The checksums of TCP and UDP cover these
// bytes, and always detect one flipped bit.
func garble(r *rand.Rand, packet []byte, payload int) {
	if payload < len(packet) {
		packet[payload+r.IntN(len(packet)-payload)] ^= 1 << r.IntN(8)
	}
}
