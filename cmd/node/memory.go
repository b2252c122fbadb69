package main

import (
	"runtime/debug"
	"slices"
	"strings"

	"dormouse/config"
	"dormouse/node"
)

// limitMemory sets Go's memory limit from the memory that the node may use, so that the heap is
// collected before the kernel ends the process, and how far the heap grows below it. It leaves alone
// what the environment sets, and how far the heap grows if the environment sets its limit.
func (p process) limitMemory(c config.Config) {
	if p.sets("GOMEMLIMIT") {
		return
	}
	plan := node.MemoryPlan(c)
	debug.SetMemoryLimit(plan.Go)
	if !p.sets("GOGC") {
		debug.SetGCPercent(plan.GOGC)
	}
}

// sets reports whether the environment sets a variable.
func (p process) sets(name string) bool {
	return slices.ContainsFunc(p.environ, func(v string) bool { return strings.HasPrefix(v, name+"=") })
}
