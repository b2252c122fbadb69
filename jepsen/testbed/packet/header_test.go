package packet_test

import (
	"testing"

	"dormouse/jepsen/testbed/packet"
)

// ip returns a packet from 10.77.0.1 to 10.77.0.2, port 40000 to 7602.
func ip(protocol byte, fragment byte) []byte {
	p := make([]byte, 40)
	p[0], p[7], p[9] = 0x45, fragment, protocol
	copy(p[12:], []byte{10, 77, 0, 1, 10, 77, 0, 2, 0x9c, 0x40, 0x1d, 0xb2})
	return p
}

func TestHeadersAreRead(t *testing.T) {
	options := ip(6, 0)
	options[0] = 0x46
	for _, test := range []struct {
		name   string
		packet []byte
		ok     bool
		port   uint16
	}{
		{"TCP", ip(6, 0), true, 7602},
		{"UDP", ip(17, 0), true, 7602},
		{"ICMP has no ports", ip(1, 0), true, 0},
		{"nor has a later fragment", ip(17, 1), true, 0},
		{"a header with options", options, true, 0},
		{"no ports left", ip(6, 0)[:22], true, 0},
		{"IPv6", append([]byte{0x60}, make([]byte, 60)...), false, 0},
		{"cut short", ip(6, 0)[:19], false, 0},
		{"a header longer than the packet", append([]byte{0x4f}, ip(6, 0)[1:]...), false, 0},
		{"nothing", nil, false, 0},
	} {
		to, ports, _, ok := packet.ReadHeader(test.packet)
		if ok != test.ok || ports[1] != test.port || ok && to != [4]byte{10, 77, 0, 2} {
			t.Errorf("%s: to %v, ports %v, ok %v", test.name, to, ports, ok)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(ip(6, 0))
	f.Add([]byte{0x4f})
	f.Fuzz(func(t *testing.T, p []byte) {
		if _, _, payload, ok := packet.ReadHeader(p); ok && payload > len(p) {
			t.Errorf("the payload begins at %d of %d bytes", payload, len(p))
		}
	})
}
