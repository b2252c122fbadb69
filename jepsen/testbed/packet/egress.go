package packet

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

const (
	// queueMax bounds the bytes in flight from one host to another: more than a second at
	// 50 Mbit/s. Further packets are dropped, as a router drops them.
	queueMax = 8 << 20
	// parcelCost is the memory that a packet in flight takes beside its bytes.
	parcelCost = 128
	// spareMax bounds the parcels that are kept for reuse.
	spareMax = 1024
)

// egress sends the packets of one host and holds those in flight. Only one goroutine uses
// it. Times count from the start of the switch.
type egress struct {
	from    int
	rand    *rand.Rand
	deliver func(to int, packet []byte) // must not keep the packet
	paths   []path                      // by destination
	way     queue
	sent    uint64 // orders parcels that are due together
	spare   []*parcel
}

// path is the state of the packets to one destination.
type path struct {
	underWay int                       // bytes
	last     [classesMax]time.Duration // when the newest one in order is due
	jitter   float64                   // the part of a link's that holds now
	redraw   time.Duration             // when it is drawn again
}

// jittered returns the part of the link's jitter that a packet gets. It is not drawn for
// each packet: in a dense stream that keeps its order, all packets would wait for the
// slowest.
func (e *egress) jittered(now time.Duration, p *path, l *Link) time.Duration {
	if now >= p.redraw {
		p.jitter, p.redraw = e.rand.Float64(), now+l.Jitter
	}
	return time.Duration(p.jitter * float64(l.Jitter))
}

// parcel is a packet in flight.
type parcel struct {
	due    time.Duration
	nth    uint64
	to     int
	packet []byte
}

func newEgress(from int, r *rand.Rand, deliver func(to int, packet []byte)) *egress {
	return &egress{from: from, rand: r, deliver: deliver}
}

// send delivers a packet, puts it in flight, or drops it. It may change the bytes of
// packet, and does not keep them.
func (e *egress) send(now time.Duration, t *table, to int, class Class, payload int, packet []byte) {
	for len(e.paths) <= to {
		e.paths = append(e.paths, path{})
	}
	p, link := &e.paths[to], t.link(e.from, to, class)
	if *link == (Link{}) && p.last[class] <= now {
		e.deliver(to, packet)
		return
	}
	f := link.fate(e.rand)
	if f.flip {
		garble(e.rand, packet, payload)
	}
	due := now + f.delay
	if link.Jitter > 0 {
		due += e.jittered(now, p, link)
	}
	if !f.held {
		due = max(due, p.last[class])
		if f.copies > 0 {
			p.last[class] = due
		}
	}
	for range f.copies {
		if due <= now {
			e.deliver(to, packet)
		} else {
			e.post(due, to, packet)
		}
	}
}

// post puts a packet in flight, or drops it if the path is full.
func (e *egress) post(due time.Duration, to int, packet []byte) {
	p := &e.paths[to]
	if p.underWay+len(packet)+parcelCost > queueMax {
		return
	}
	p.underWay += len(packet) + parcelCost
	parcel := e.blank()
	e.sent++
	parcel.due, parcel.nth, parcel.to = due, e.sent, to
	parcel.packet = append(parcel.packet[:0], packet...)
	heap.Push(&e.way, parcel)
}

// arrive delivers all packets that are due.
func (e *egress) arrive(now time.Duration) {
	for len(e.way) > 0 && e.way[0].due <= now {
		p := heap.Pop(&e.way).(*parcel)
		e.paths[p.to].underWay -= len(p.packet) + parcelCost
		e.deliver(p.to, p.packet)
		if len(e.spare) < spareMax {
			e.spare = append(e.spare, p)
		}
	}
}

// next returns when the next packet is due; 0 if none is in flight.
func (e *egress) next() time.Duration {
	if len(e.way) == 0 {
		return 0
	}
	return e.way[0].due
}

func (e *egress) blank() *parcel {
	last := len(e.spare) - 1
	if last < 0 {
		return &parcel{}
	}
	p := e.spare[last]
	e.spare = e.spare[:last]
	return p
}

// queue is a heap of parcels, ordered by when they are due.
type queue []*parcel

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].due < q[j].due || q[i].due == q[j].due && q[i].nth < q[j].nth
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *queue) Push(x any) { *q = append(*q, x.(*parcel)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(*q) - 1
	p := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return p
}
