package fsm

import "fmt"

// Open opens the machine in o.Dir, making it if there is none. If a crash
// has left the engine behind the newest snapshot, that snapshot is restored
// first, so that Raft may go on from where the snapshot ends.
func Open(o Options) (*Machine, error) {
	m := &Machine{options: o}
	h, g, err := openHome(o)
	if err != nil {
		return nil, err
	}
	m.home = h
	if err := m.adopt(g); err != nil {
		g.close()
		_ = h.close()
		return nil, fmt.Errorf("open state in %s: %w", o.Dir, err)
	}
	if index, chain := m.Chain(); index > 0 {
		m.chains.add(index, chain)
	}
	return m, nil
}

// Close closes the machine, which Raft must have left, and waits for the views
// that are open. What was not flushed is replayed from the log.
func (m *Machine) Close() error {
	m.gen.close()
	return m.home.close()
}
