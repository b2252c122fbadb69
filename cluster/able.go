package cluster

import (
	"slices"

	"dormouse/agent"
	"dormouse/placement"
)

// candidate is a member that has a lease.
type candidate struct {
	placement.Node
	handlers []string // its process's, as its lease names them
	errands  bool     // it can have others handle what it has no handler for
}

// able are the candidates that are to own partitions. A partition has keys of all
// managers, so one that cannot send errands must have all handlers that anybody
// has. Of the others those with any handlers are preferred: what is at home needs
// no errand. One that is closed does not count for either, unless all are: it may
// be gone in a moment.
func able(all []candidate) []placement.Node {
	counts := func(c candidate) bool { return !c.Closed }
	if !slices.ContainsFunc(all, counts) {
		counts = func(candidate) bool { return true }
	}
	var known []string // to those that count
	for _, c := range all {
		if counts(c) {
			known = append(known, c.handlers...)
		}
	}
	lacks := func(c candidate) bool { return !c.errands && agent.MissingHandlers(c.handlers, known) != nil }
	fit := slices.DeleteFunc(slices.Clone(all), lacks)
	at := func(c candidate) bool { return counts(c) && len(c.handlers) > 0 }
	home := slices.ContainsFunc(fit, at)
	var nodes []placement.Node
	for _, c := range fit {
		if !home || len(c.handlers) > 0 {
			nodes = append(nodes, c.Node)
		}
	}
	return nodes
}
