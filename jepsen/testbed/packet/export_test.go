package packet

import (
	"math/rand/v2"
	"time"
)

// Sender is the egress of one host, without devices and clocks.
type Sender struct {
	e *egress
	t *table
}

// NewSender returns the egress of host 0 of two, which sends over l in every class.
func NewSender(l Link, deliver func(packet []byte)) *Sender {
	s := &Sender{t: newTable(2)}
	s.e = newEgress(0, rand.New(rand.NewPCG(1, 2)), func(_ int, packet []byte) { deliver(packet) })
	s.Set(All, l)
	return s
}

// Set sets the link from host 0 to host 1.
func (s *Sender) Set(class Class, l Link) { s.t = s.t.with(0, 1, class, l) }

// Send sends a packet that is all payload from host 0 to host 1.
func (s *Sender) Send(now time.Duration, class Class, packet []byte) {
	s.e.send(now, s.t, 1, class, 0, packet)
}

// Arrive delivers the packets that are due.
func (s *Sender) Arrive(now time.Duration) { s.e.arrive(now) }

// Next returns when the next packet is due; 0 means never.
func (s *Sender) Next() time.Duration { return s.e.next() }

// QueueMax bounds the bytes in flight.
const QueueMax = queueMax

// ReadHeader reads the header of a packet.
func ReadHeader(packet []byte) (to [4]byte, ports [2]uint16, payload int, ok bool) {
	h, ok := readHeader(packet)
	return h.to, h.ports, h.payload, ok
}

// ResetTo returns the reset in answer to a TCP packet.
func ResetTo(packet []byte) []byte {
	h, _ := readHeader(packet)
	return resetTo(packet, h)
}

// ResetInPlaceOf returns the reset that the receiver of a TCP packet gets in its place.
func ResetInPlaceOf(packet []byte) []byte {
	h, _ := readHeader(packet)
	return resetInPlaceOf(packet, h)
}
