package cluster

import (
	"slices"

	"dormouse/agent"
	"dormouse/placement"
)

// able are the nodes that can keep the instances of any manager as well as
// anybody: a partition has keys of all managers, so only processes with the most
// Go handlers are to own one. handlers are the nodes', in the same order. One
// that is closed does not count for that, unless all are: it may be gone in a
// moment.
func able(nodes []placement.Node, handlers [][]string) []placement.Node {
	var open [][]string
	for i, n := range nodes {
		if !n.Closed {
			open = append(open, handlers[i])
		}
	}
	if open == nil {
		open = handlers
	}
	most := agent.MostHandlers(open)
	at := -1
	return slices.DeleteFunc(nodes, func(placement.Node) bool {
		at++
		return agent.MissingHandlers(handlers[at], most) != nil
	})
}
