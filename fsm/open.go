package fsm

import "fmt"

// Open opens the machine in o.Dir, and creates it if it does not exist. If a crash has left the
// engine behind the newest snapshot, Open restores that snapshot first, so that Raft can continue
// from its end.
func Open(o Options) (*Machine, error) {
	m := &Machine{options: o}
	d, g, err := openDataDir(o)
	if err != nil {
		return nil, err
	}
	m.data = d
	if err := m.adopt(g); err != nil {
		g.close()
		_ = d.close()
		return nil, fmt.Errorf("open state in %s: %w", o.Dir, err)
	}
	if index, chain := m.Chain(); index > 0 {
		m.chains.add(index, chain)
	}
	return m, nil
}

// Close closes the machine and waits for open views. Raft must not use the machine any more. Raft
// replays from its log what was not flushed.
func (m *Machine) Close() error {
	m.gen.close()
	return m.data.close()
}
