package nemesis

import (
	"context"
	"sync"
	"time"

	"dormouse/jepsen/testbed"
)

// wires lets several faults lay their hands on one link: what they want adds
// up, and each takes back its own alone.
type wires struct {
	set func(from, to string, ports testbed.Ports, l testbed.Link)

	mu   sync.Mutex
	laid map[wire]map[int]testbed.Link // :: wire → step → what the step wants of it
}

// wire is one way between two hosts, for one class of ports.
type wire struct {
	from, to string
	ports    testbed.Ports
}

func newWires(set func(from, to string, ports testbed.Ports, l testbed.Link)) *wires {
	return &wires{set: set, laid: map[wire]map[int]testbed.Link{}}
}

// lay adds what a step wants of a wire.
func (w *wires) lay(step int, on wire, l testbed.Link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.laid[on] == nil {
		w.laid[on] = map[int]testbed.Link{}
	}
	w.laid[on][step] = l
	w.set(on.from, on.to, on.ports, sum(w.laid[on]))
}

// lift takes back all that a step wanted.
func (w *wires) lift(step int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for on, steps := range w.laid {
		if _, mine := steps[step]; mine {
			delete(steps, step)
			w.set(on.from, on.to, on.ports, sum(steps))
		}
	}
}

// sum is the worst of each.
func sum(links map[int]testbed.Link) testbed.Link {
	var all testbed.Link
	for _, l := range links {
		all = testbed.Link{
			Cut: all.Cut || l.Cut, Delay: max(all.Delay, l.Delay), Jitter: max(all.Jitter, l.Jitter), Loss: max(all.Loss, l.Loss),
			Duplicate: max(all.Duplicate, l.Duplicate), Reorder: max(all.Reorder, l.Reorder), Corrupt: max(all.Corrupt, l.Corrupt),
		}
	}
	return all
}

// lift is the undo of what a step laid.
func (a *act) lift() undo {
	return func(context.Context) error {
		a.wires.lift(a.N)
		return nil
	}
}

// cut cuts the way between each of one side and each of the other, both ways.
func (a *act) cut(some, others []string, ports testbed.Ports) {
	a.cutTo(some, others, ports)
	a.cutTo(others, some, ports)
}

// cutTo cuts it one way.
func (a *act) cutTo(from, to []string, ports testbed.Ports) {
	a.lay(from, to, ports, testbed.Link{Cut: true})
}

// lay does something to the way from each to each of the others.
func (a *act) lay(from, to []string, ports testbed.Ports, l testbed.Link) {
	for _, f := range from {
		for _, t := range to {
			if f != t {
				a.wires.lay(a.N, wire{f, t, ports}, l)
			}
		}
	}
}

// names of hosts, as the network knows them.
func names(hosts []*testbed.Host) []string {
	var names []string
	for _, h := range hosts {
		names = append(names, h.Name())
	}
	return names
}

// millis is a random number of milliseconds in a range.
func (a *act) millis(low, high int) time.Duration {
	return time.Duration(low+a.draw.IntN(high-low+1)) * time.Millisecond
}
