package workload

import (
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
