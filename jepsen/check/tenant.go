package check

import (
	"fmt"

	"dormouse/jepsen/history"
)

// FaultTenant is the name of the fault in which one scope floods the cluster.
const FaultTenant = "noisy-tenant"

// The bound of what others notice of a scope that floods, while its policy limits it:
// such a part of the pulses succeeds. A pulse has a second.
const (
	tenantPulsesMin = 0.9
	tenantCallsMin  = 20 // fewer pulses show nothing
)

// Keys in Counts of Liveness: the pulses beside a scope that floods, and those of them
// that failed.
const (
	CountTenantPulses = "pulses beside a noisy tenant"
	CountTenantFailed = "failed beside a noisy tenant"
)

// tenants reports that others could hardly write while one scope flooded the cluster and
// there was no other fault.
func (t *timeline) tenants(broken *findings, counts map[string]int) {
	for _, w := range t.windows {
		alone := !t.during(w.From, w.To, func(other Window) bool { return other.Step != w.Step })
		if w.Name != FaultTenant || !alone {
			continue
		}
		calls, failed := 0, 0
		var last history.Op
		for _, op := range t.Ops {
			if op.Workload != PulseWorkload || op.Invoke < w.From || op.Invoke > w.To {
				continue
			}
			calls++
			if op.Outcome != history.OK {
				failed, last = failed+1, op
			}
		}
		counts[CountTenantPulses] += calls
		counts[CountTenantFailed] += failed
		if calls >= tenantCallsMin && float64(calls-failed) < tenantPulsesMin*float64(calls) {
			broken.add("crowded out", "", fmt.Sprintf("while one scope flooded the cluster from %v to %v, %d of %d small commits of another failed",
				round(w.From), round(w.To), failed, calls), last)
		}
	}
}
