package main

import (
	"runtime/debug"
	"slices"
	"strings"

	"dormouse/config"
	"dormouse/node"
)

// limitMemory sets Go's memory limit from the memory that the node may use, so that the heap is
// collected before the kernel ends the process. It changes nothing if the environment sets
// GOMEMLIMIT. GOGC is left alone: larger values cost memory and gained nothing (ADR 21).
func (p process) limitMemory(c config.Config) {
	if slices.ContainsFunc(p.environ, func(v string) bool { return strings.HasPrefix(v, "GOMEMLIMIT=") }) {
		return
	}
	debug.SetMemoryLimit(node.MemoryPlan(c).Go)
}
