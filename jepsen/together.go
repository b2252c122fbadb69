package jepsen

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"dormouse/internal/pause"
)

const (
	// asksMax bounds how often the nodes are asked until all have answered at one index.
	asksMax  = 20
	askEvery = 20 * time.Millisecond
)

// anyIndex is the index of an answer that can stand beside those at every index.
const anyIndex = 0

// together asks all nodes again and again until each has answered at one index of the log,
// and returns those answers. The log of an idle cluster grows too, since nodes renew their
// leases, and followers learn a moment later that an entry is committed. If there is no such
// index after asksMax rounds, or a node does not answer, it returns the last answers. ask is
// called concurrently, with the number of a node.
func together[T any](ctx context.Context, nodes int, ask func(node int) (index uint64, answer T, err error)) ([]T, []error) {
	last, errs := make([]T, nodes), make([]error, nodes)
	seen := make([]map[uint64]T, nodes)
	for i := range seen {
		seen[i] = map[uint64]T{}
	}
	for round := 1; ; round++ {
		each(nodes, func(i int) {
			var index uint64
			if index, last[i], errs[i] = ask(i); errs[i] == nil {
				seen[i][index] = last[i]
			}
		})
		if slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
			return last, errs
		}
		if answers := atOneIndex(seen); answers != nil {
			return answers, errs
		}
		if round == asksMax || !pause.For(ctx, askEvery) {
			return last, errs
		}
	}
}

// atOneIndex returns the answers at the highest index at which all nodes have answered, or
// nil if there is none. Without nodes there is nothing to wait for: it returns no answers.
func atOneIndex[T any](seen []map[uint64]T) []T {
	if len(seen) == 0 {
		return []T{}
	}
	indices := map[uint64]bool{}
	for _, answers := range seen {
		for index := range answers {
			indices[index] = true
		}
	}
	for _, index := range slices.Backward(slices.Sorted(maps.Keys(indices))) {
		var all []T
		for _, answers := range seen {
			if answer, ok := answers[index]; ok {
				all = append(all, answer)
			} else if answer, ok := answers[anyIndex]; ok {
				all = append(all, answer)
			}
		}
		if len(all) == len(seen) {
			return all
		}
	}
	return nil
}

// each calls do for each node concurrently, and waits.
func each(nodes int, do func(node int)) {
	var wait sync.WaitGroup
	for i := range nodes {
		wait.Go(func() { do(i) })
	}
	wait.Wait()
}
