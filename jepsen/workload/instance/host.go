package instance

import (
	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// HostHandler is the name of the Go handler of workload host.
const HostHandler = "counter"

// HostName is the name of the workload that NewHost returns.
const HostName = "host"

// NewHost returns workload host: counters like those of instance, kept by a program's
// Go handler. The programs join the cluster as hosts, own partitions, and leave.
func NewHost() workload.Workload {
	return newCounters(HostName,
		"counters that are Go values in programs which run as hosts: the promises of instance, with faults of the programs too",
		agent.Handler{Kind: agent.HandlerGo, Name: HostHandler})
}
