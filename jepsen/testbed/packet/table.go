package packet

// table holds the faults of every link. It is immutable: a change makes a new one.
type table struct {
	hosts    int
	set      []Link // as it was set; see at
	combined []Link // with what holds for all classes added
}

func newTable(hosts int) *table {
	return &table{hosts: hosts, set: make([]Link, hosts*hosts*classesMax), combined: make([]Link, hosts*hosts*classesMax)}
}

// grown returns a table for one more host.
func (t *table) grown() *table {
	g := newTable(t.hosts + 1)
	for from := range t.hosts {
		for to := range t.hosts {
			for class := range Class(classesMax) {
				g.set[g.at(from, to, class)] = t.set[t.at(from, to, class)]
				g.combined[g.at(from, to, class)] = t.combined[t.at(from, to, class)]
			}
		}
	}
	return g
}

// with returns a table in which one link of one class is l.
func (t *table) with(from, to int, class Class, l Link) *table {
	w := newTable(t.hosts)
	copy(w.set, t.set)
	copy(w.combined, t.combined)
	w.set[w.at(from, to, class)] = l
	all := w.set[w.at(from, to, All)]
	w.combined[w.at(from, to, All)] = all
	for c := All + 1; c < classesMax; c++ {
		w.combined[w.at(from, to, c)] = all.plus(w.set[w.at(from, to, c)])
	}
	return w
}

func (t *table) at(from, to int, class Class) int {
	return (from*t.hosts+to)*classesMax + int(class)
}

// link returns the faults of packets of a class; All is the class of packets without one.
func (t *table) link(from, to int, class Class) *Link { return &t.combined[t.at(from, to, class)] }
