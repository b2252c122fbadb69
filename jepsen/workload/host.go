package workload

import (
	"slices"

	"dormouse/agent"
)

// HostHandler is the Go handler of the counters of host.
const HostHandler = "counter"

const hostName = "host"

// newHost makes counters as instance does, but that a program's Go handler keeps
// them: hosts own them, and go, beside the nodes.
func newHost() Workload {
	return newCounters(hostName,
		"counters that are Go values in programs which take part as hosts: all that instance promises, whichever of the programs is harmed",
		agent.Handler{Kind: agent.HandlerGo, Name: HostHandler})
}

// NeedsPrograms tells whether programs must take part beside the nodes, of which
// some have HostHandler.
func NeedsPrograms(workloads []string) bool { return slices.Contains(workloads, hostName) }

// WithoutPrograms are those of the workloads that need none.
func WithoutPrograms(workloads []string) []string {
	return slices.DeleteFunc(slices.Clone(workloads), func(name string) bool { return name == hostName })
}
