package packet_test

import (
	"encoding/binary"
	"testing"

	"dormouse/jepsen/testbed/packet"
)

// The flags of a TCP header.
const (
	fin = 0x01
	syn = 0x02
	rst = 0x04
	ack = 0x10
)

// tcp returns a TCP packet from 10.77.0.1 to 10.77.0.2, port 40000 to 7602, with sequence
// number 1000 and acknowledgement number 2000.
func tcp(flags byte, data int) []byte {
	p := append(ip(6, 0), make([]byte, data)...)
	binary.BigEndian.PutUint32(p[24:], 1000)
	binary.BigEndian.PutUint32(p[28:], 2000)
	p[32], p[33] = 5<<4, flags
	return p
}

// folded returns the Internet sum of data, which is 0xffff over what has a right checksum.
func folded(data ...[]byte) uint32 {
	var s uint32
	for _, part := range data {
		for i := 0; i < len(part); i += 2 {
			s += uint32(binary.BigEndian.Uint16(part[i:]))
		}
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return s
}

func TestAResetAnswersASegment(t *testing.T) {
	for _, c := range []struct {
		name                   string
		packet                 []byte
		flags                  byte
		sequence, acknowledged uint32
	}{
		{"a connection's first", tcp(syn, 0), rst | ack, 0, 1001},
		{"data that acknowledges", tcp(ack, 10), rst, 2000, 0},
		{"an end", tcp(fin|ack, 0), rst, 2000, 0},
		{"data and an end, without acknowledgement", tcp(fin, 10), rst | ack, 0, 1011},
	} {
		r := packet.ResetTo(c.packet)
		to, ports, payload, ok := packet.ReadHeader(r)
		if !ok || to != [4]byte{10, 77, 0, 1} || ports != [2]uint16{7602, 40000} || payload != 20 || len(r) != 40 {
			t.Errorf("%s: to %v, ports %v, %d bytes", c.name, to, ports, len(r))
			continue
		}
		if r[33] != c.flags || binary.BigEndian.Uint32(r[24:]) != c.sequence || binary.BigEndian.Uint32(r[28:]) != c.acknowledged {
			t.Errorf("%s: flags %x, numbers %d and %d", c.name, r[33], binary.BigEndian.Uint32(r[24:]), binary.BigEndian.Uint32(r[28:]))
		}
		if folded(r[:20]) != 0xffff || folded(r[12:20], []byte{0, 6, 0, 20}, r[20:]) != 0xffff {
			t.Errorf("%s: a checksum is wrong", c.name)
		}
	}
	if r := packet.ResetTo(tcp(rst, 0)); r != nil {
		t.Errorf("a reset was answered: %x", r)
	}
}

func TestAResetTakesThePlaceOfASegment(t *testing.T) {
	for _, flags := range []byte{ack, fin | ack} {
		r := packet.ResetInPlaceOf(tcp(flags, 10))
		to, ports, payload, ok := packet.ReadHeader(r)
		if !ok || to != [4]byte{10, 77, 0, 2} || ports != [2]uint16{40000, 7602} || payload != 20 || len(r) != 40 {
			t.Fatalf("flags %x: to %v, ports %v, %d bytes", flags, to, ports, len(r))
		}
		if r[33] != rst || binary.BigEndian.Uint32(r[24:]) != 1000 {
			t.Errorf("flags %x: flags %x, number %d", flags, r[33], binary.BigEndian.Uint32(r[24:]))
		}
		if folded(r[:20]) != 0xffff || folded(r[12:20], []byte{0, 6, 0, 20}, r[20:]) != 0xffff {
			t.Errorf("flags %x: a checksum is wrong", flags)
		}
	}
	for _, flags := range []byte{syn, rst} { // the receiver knows no connection, or that it has ended
		if r := packet.ResetInPlaceOf(tcp(flags, 0)); r != nil {
			t.Errorf("flags %x: the receiver got %x", flags, r)
		}
	}
}
