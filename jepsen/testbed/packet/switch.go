package packet

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Switch is a network: the attached hosts, and the faults of the links between them. All
// methods may be called concurrently.
type Switch struct {
	subnet  netip.Prefix
	classes map[uint16]Class // :: port → class; not changed
	start   time.Time
	wiring  atomic.Pointer[wiring]

	mu      sync.Mutex
	names   map[string]int // :: host → its number
	err     error          // the first failure of a device
	closed  bool
	serving sync.WaitGroup
}

// wiring is the configuration that the switch uses. It is immutable: a change makes a new
// one.
type wiring struct {
	links   *table
	devices []*os.File // by number of the host
	at      [256]uint8 // :: last byte of an address → number of the host, from 1
}

// New makes a network for hosts with addresses in subnet, at most 255. Ports that classes
// does not name are in no class but All.
func New(subnet netip.Prefix, classes map[uint16]Class) *Switch {
	s := &Switch{subnet: subnet.Masked(), classes: classes, start: time.Now(), names: map[string]int{}}
	s.wiring.Store(&wiring{links: newTable(0)})
	return s
}

// Attach gives the namespace a device with the address, and forwards the packets of this
// host from now on.
func (s *Switch) Attach(name string, ns *Namespace, addr netip.Addr) error {
	if !addr.Is4() || !s.subnet.Contains(addr) {
		return fmt.Errorf("attach %s: %v is not an address in %v", name, addr, s.subnet)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := *s.wiring.Load()
	number, last := len(w.devices), addr.As4()[3]
	switch _, taken := s.names[name]; {
	case s.closed:
		return fmt.Errorf("attach %s: the switch is closed", name)
	case taken:
		return fmt.Errorf("attach %s: there is one already", name)
	case w.at[last] != 0:
		return fmt.Errorf("attach %s: %v is taken", name, addr)
	}
	tun, err := openTUN(ns, netip.PrefixFrom(addr, s.subnet.Bits()))
	if err != nil {
		return fmt.Errorf("attach %s: %w", name, err)
	}
	s.names[name] = number
	w.links, w.devices, w.at[last] = w.links.grown(), append(slices.Clip(w.devices), tun), uint8(number+1)
	s.wiring.Store(&w)
	s.serving.Go(func() { s.serve(name, number, tun) })
	return nil
}

// Set sets the faults of packets of a class from one host to another. The faults of All
// and of a class add up. Packets in flight stay in flight, and no packet in order of the
// same class overtakes them.
func (s *Switch) Set(from, to string, class Class, l Link) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, fromOK := s.names[from]
	t, toOK := s.names[to]
	if !fromOK || !toOK || class >= classesMax {
		return fmt.Errorf("no link from %q to %q in class %d", from, to, class)
	}
	w := *s.wiring.Load()
	w.links = w.links.with(f, t, class, l)
	s.wiring.Store(&w)
	return nil
}

// HealAll removes the faults of every link.
func (s *Switch) HealAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := *s.wiring.Load()
	w.links = newTable(len(w.devices))
	s.wiring.Store(&w)
}

// Close removes the devices. It returns the first failure of a device since Attach.
func (s *Switch) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		for _, device := range s.wiring.Load().devices {
			_ = device.Close() // wakes its reader
		}
	}
	s.mu.Unlock()
	s.serving.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// serve forwards the packets of a host until its device is closed.
func (s *Switch) serve(name string, number int, tun *os.File) {
	err := s.forward(number, tun)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && s.err == nil {
		s.err = fmt.Errorf("forward what %s sends: %w", name, err)
	}
}

// forward reads packets, and wakes up when packets in flight are due.
func (s *Switch) forward(number int, tun *os.File) error {
	e := newEgress(number, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), func(to int, packet []byte) {
		// A device that takes no packet loses it, as a full network would.
		_, _ = s.wiring.Load().devices[to].Write(packet)
	})
	buffer := make([]byte, mtu)
	var deadline time.Duration // that the device has; 0 means none
	for {
		if due := e.next(); due != deadline {
			if err := tun.SetReadDeadline(s.clock(due)); err != nil {
				return err
			}
			deadline = due
		}
		n, err := tun.Read(buffer)
		now := time.Since(s.start)
		e.arrive(now)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
		case err != nil:
			return err
		default:
			s.take(e, now, buffer[:n])
		}
	}
}

// clock returns the time at which something is due; 0 means never.
func (s *Switch) clock(due time.Duration) time.Time {
	if due == 0 {
		return time.Time{}
	}
	return s.start.Add(due)
}

// take sends a packet to its destination. It drops multicast packets, packets to unknown
// hosts, and all that is not IPv4.
func (s *Switch) take(e *egress, now time.Duration, packet []byte) {
	h, ok := readHeader(packet)
	if !ok || !s.subnet.Contains(netip.AddrFrom4(h.to)) {
		return
	}
	w := s.wiring.Load()
	to := int(w.at[h.to[3]]) - 1
	if to < 0 {
		return
	}
	class := s.class(h)
	if w.links.link(e.from, to, class).Refuse && h.tcp && s.serves(h.ports[1]) {
		if reset := resetTo(packet, h); reset != nil {
			e.deliver(e.from, reset)
		}
		if reset := resetInPlaceOf(packet, h); reset != nil {
			e.deliver(to, reset)
		}
		return
	}
	e.send(now, w.links, to, class, h.payload, packet)
}

// serves reports whether a port is one of a server.
func (s *Switch) serves(port uint16) bool {
	_, ok := s.classes[port]
	return ok
}

func (s *Switch) class(h header) Class {
	if !h.ported {
		return All
	}
	if class, ok := s.classes[h.ports[0]]; ok {
		return class
	}
	return s.classes[h.ports[1]]
}
