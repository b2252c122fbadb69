package node

import (
	"github.com/prometheus/client_golang/prometheus"

	"dormouse/fsm"
)

// machineCollector collects what the state machine met while it applied entries.
type machineCollector struct{ machine *fsm.Machine }

// machineCounters are the machine's counters for Prometheus.
var machineCounters = []struct {
	desc  *prometheus.Desc
	value func(*fsm.Machine) uint64
}{
	{describeMachine("answered_total", "Commits that were sent again and answered from the dedup table, on the node that decided them."), func(m *fsm.Machine) uint64 { return m.Counters.Answered.Load() }},
	{describeMachine("shared_fences_total", "Fences that were checked for commits which shared their log entry with others, on the node that decided them."), func(m *fsm.Machine) uint64 { return m.Counters.SharedFences.Load() }},
	{describeMachine("leases_ended_total", "Leases of nodes and hosts that expired."), func(m *fsm.Machine) uint64 { return m.Counters.LeasesEnded.Load() }},
	{describeMachine("drained_total", "Partitions that moved to another node after they were drained."), func(m *fsm.Machine) uint64 { return m.Counters.Drained.Load() }},
	{describeMachine("displaced_entries_total", "Log entries whose commits were refused, since another entry took the place that they were decided for."), func(m *fsm.Machine) uint64 { return m.Counters.Displaced.Load() }},
}

func describeMachine(name, what string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName("dormouse", "machine", name), what, nil, nil)
}

func (c machineCollector) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, out) }

func (c machineCollector) Collect(out chan<- prometheus.Metric) {
	for _, k := range machineCounters {
		out <- prometheus.MustNewConstMetric(k.desc, prometheus.CounterValue, float64(k.value(c.machine)))
	}
}
