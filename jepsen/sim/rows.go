package sim

import (
	"context"
	"fmt"

	"dormouse/jepsen/check"
)

// Rows implements jepsen.Cluster.
func (c *Cluster) Rows(ctx context.Context, name string) (*check.Rows, error) {
	for _, h := range c.hosts {
		n := h.node()
		if h.name != name || n == nil {
			continue
		}
		view := n.Machine().View()
		defer view.Close()
		hash, sums, err := view.StateSum(ctx)
		if err != nil {
			return nil, err
		}
		rows := &check.Rows{Index: view.Index(), Hash: hash, Kinds: map[string]string{}}
		for _, s := range sums {
			rows.Kinds[s.Kind] = fmt.Sprintf("%016x", s.Hash)
		}
		return rows, nil
	}
	return nil, fmt.Errorf("%s does not run", name)
}
