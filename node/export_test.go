package node

import (
	"strings"

	"dormouse/api/document"
)

// OnStep calls step before each step of the recovery. If it returns an error, the recovery ends there, as
// in a crash.
func (r *Recovery) OnStep(step func(name string) error) { r.step = step }

// ScopeMetrics returns the metrics of scopes, by name and scope.
func (n *Node) ScopeMetrics() (map[string]float64, error) {
	families, err := n.metrics.registry.Gather()
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if strings.HasPrefix(f.GetName(), "dormouse_scope_") {
				got[f.GetName()+" "+m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return got, err
}

// SlowCalls returns the slow calls that a node keeps, newest first.
func SlowCalls(n *Node) []document.SlowCall { return n.slow.last() }

// SharedDevice is sharedDevice.
var SharedDevice = sharedDevice
