package packet

import (
	"math/rand/v2"
	"time"
)

// Class is a class of ports. A packet belongs to the class of its source port or its
// destination port.
type Class uint8

const (
	// All contains every packet.
	All Class = 0
	// classesMax is the number of classes, including All.
	classesMax = 4
)

// Link says what happens to packets that travel one way from one host to another. The zero
// Link has no fault. Probabilities are from 0 to 1, and apply to each packet.
type Link struct {
	Cut       bool          // nothing arrives
	Refuse    bool          // what goes to a server's port by TCP resets both ends, as if the process behind each had ended
	Delay     time.Duration // all arrive so much later, in order
	Jitter    time.Duration // and by up to so much more, which varies as fast, still in order
	Loss      float64       // does not arrive
	Duplicate float64       // arrives twice
	Reorder   float64       // is held back, so that later ones overtake it
	Corrupt   float64       // a bit is flipped behind the IP header; the receiver's kernel drops such for their checksum
}

// heldMax bounds how long a reordered packet is held back.
const heldMax = 10 * time.Millisecond

// plus returns a link with the faults of both links.
func (l Link) plus(m Link) Link {
	either := func(p, q float64) float64 { return 1 - (1-p)*(1-q) }
	return Link{
		Cut: l.Cut || m.Cut, Refuse: l.Refuse || m.Refuse, Delay: l.Delay + m.Delay, Jitter: l.Jitter + m.Jitter,
		Loss: either(l.Loss, m.Loss), Duplicate: either(l.Duplicate, m.Duplicate),
		Reorder: either(l.Reorder, m.Reorder), Corrupt: either(l.Corrupt, m.Corrupt),
	}
}

// fate is what happens to one packet.
type fate struct {
	copies int           // 0: it is lost
	delay  time.Duration // beside jitter
	held   bool          // may be overtaken
	flip   bool          // is garbled
}

// fate draws what happens to one packet.
func (l Link) fate(r *rand.Rand) fate {
	if l.Cut || chance(r, l.Loss) {
		return fate{}
	}
	f := fate{copies: 1, delay: l.Delay}
	if chance(r, l.Duplicate) {
		f.copies = 2
	}
	if chance(r, l.Reorder) {
		f.held = true
		f.delay += time.Duration(r.Int64N(int64(heldMax)))
	}
	f.flip = chance(r, l.Corrupt)
	return f
}

func chance(r *rand.Rand, p float64) bool { return p > 0 && r.Float64() < p }
