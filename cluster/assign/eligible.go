package assign

import (
	"slices"

	"dormouse/agent/layout"
	"dormouse/placement"
)

// candidate is a member that has a lease.
type candidate struct {
	placement.Node
	handlers    []string // of its process, by its lease
	remoteTurns bool     // it can run turns on other processes
}

// eligible returns the candidates that may own partitions. A partition has keys of
// all managers, so a process that cannot use remote turns needs every handler that
// any process has. Of the others, processes that have any handlers are preferred,
// so that turns run locally. A closed process does not count for either rule,
// unless all are closed: it may be gone in a moment.
func eligible(all []candidate) []placement.Node {
	counts := func(c candidate) bool { return !c.Closed }
	if !slices.ContainsFunc(all, counts) {
		counts = func(candidate) bool { return true }
	}
	var known []string // handlers of the processes that count
	for _, c := range all {
		if counts(c) {
			known = append(known, c.handlers...)
		}
	}
	lacks := func(c candidate) bool {
		return !c.remoteTurns && layout.MissingHandlers(c.handlers, known) != nil
	}
	fit := slices.DeleteFunc(slices.Clone(all), lacks)
	local := slices.ContainsFunc(fit, func(c candidate) bool { return counts(c) && len(c.handlers) > 0 })
	var nodes []placement.Node
	for _, c := range fit {
		if !local || len(c.handlers) > 0 {
			nodes = append(nodes, c.Node)
		}
	}
	return nodes
}
