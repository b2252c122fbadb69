package nemesis

import (
	"context"
	"sync"
	"time"

	"dormouse/jepsen/testbed"
)

// wires combines the effects of several faults on one link. Each fault removes only
// its own effects. Nil wires are a network that cannot fail: lay and remove do nothing.
type wires struct {
	set func(from, to string, ports testbed.Ports, l testbed.Link)

	mu   sync.Mutex
	laid map[wire]map[int]testbed.Link // guarded by mu; :: wire → step → the step's setting
}

// wire is one direction between two hosts, for one class of ports.
type wire struct {
	from, to string
	ports    testbed.Ports
}

func newWires(set func(from, to string, ports testbed.Ports, l testbed.Link)) *wires {
	return &wires{set: set, laid: map[wire]map[int]testbed.Link{}}
}

// lay sets a step's setting of a wire.
func (w *wires) lay(step int, on wire, l testbed.Link) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.laid[on] == nil {
		w.laid[on] = map[int]testbed.Link{}
	}
	w.laid[on][step] = l
	w.set(on.from, on.to, on.ports, sum(w.laid[on]))
}

// remove removes all settings of a step.
func (w *wires) remove(step int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for on, steps := range w.laid {
		if _, mine := steps[step]; mine {
			delete(steps, step)
			w.set(on.from, on.to, on.ports, sum(steps))
		}
	}
}

// sum returns the worst value of each property.
func sum(links map[int]testbed.Link) testbed.Link {
	var all testbed.Link
	for _, l := range links {
		all = testbed.Link{
			Cut: all.Cut || l.Cut, Refuse: all.Refuse || l.Refuse, Delay: max(all.Delay, l.Delay), Jitter: max(all.Jitter, l.Jitter), Loss: max(all.Loss, l.Loss),
			Duplicate: max(all.Duplicate, l.Duplicate), Reorder: max(all.Reorder, l.Reorder), Corrupt: max(all.Corrupt, l.Corrupt),
		}
	}
	return all
}

// remove returns the undo of a step's links.
func (a *act) remove() undo {
	return func(context.Context) error {
		a.wires.remove(a.N)
		return nil
	}
}

// cut cuts the links between two sides in both directions.
func (a *act) cut(some, others []string, ports testbed.Ports) {
	a.cutTo(some, others, ports)
	a.cutTo(others, some, ports)
}

// cutTo cuts the links in one direction.
func (a *act) cutTo(from, to []string, ports testbed.Ports) {
	a.lay(from, to, ports, testbed.Link{Cut: true})
}

// lay changes the link from each host to each of the others.
func (a *act) lay(from, to []string, ports testbed.Ports, l testbed.Link) {
	for _, f := range from {
		for _, t := range to {
			if f != t {
				a.wires.lay(a.N, wire{f, t, ports}, l)
			}
		}
	}
}

// names returns the names of hosts in the network.
func names(hosts []*testbed.Host) []string {
	var names []string
	for _, h := range hosts {
		names = append(names, h.Name())
	}
	return names
}

// millis returns a random number of milliseconds in a range.
func (a *act) millis(low, high int) time.Duration {
	return time.Duration(low+a.draw.IntN(high-low+1)) * time.Millisecond
}
