package node

import (
	"context"

	"dormouse/api/document"
)

// stateSum returns what hashes all rows of this node. One call runs at a time, since each reads
// everything.
func stateSum(n *Node) func(context.Context) (document.StateSum, error) {
	one := make(chan struct{}, 1)
	return func(ctx context.Context) (document.StateSum, error) {
		select {
		case one <- struct{}{}:
		case <-ctx.Done():
			return document.StateSum{}, context.Cause(ctx)
		}
		defer func() { <-one }()
		view := n.machine.View()
		defer view.Close()
		hash, sums, err := view.StateSum(ctx)
		if err != nil {
			return document.StateSum{}, err
		}
		sum := document.StateSum{Node: n.o.Config.Node.ID, Index: view.Index(), Hash: hash, Kinds: make([]document.KindSum, len(sums))}
		for i, s := range sums {
			sum.Kinds[i] = document.NewKindSum(s.Kind, s.Rows, s.Bytes, s.Hash)
		}
		return sum, nil
	}
}
