package instance

import (
	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// HostHandler is the Go handler of the counters of host.
const HostHandler = "counter"

// HostName is the name of the workload that NewHost returns.
const HostName = "host"

// NewHost makes counters as instance does, but that a program's Go handler keeps
// them: hosts own them, and go, beside the nodes.
func NewHost() workload.Workload {
	return newCounters(HostName,
		"counters that are Go values in programs which take part as hosts: all that instance promises, whichever of the programs is harmed",
		agent.Handler{Kind: agent.HandlerGo, Name: HostHandler})
}
