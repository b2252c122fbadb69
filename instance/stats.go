package instance

import (
	"context"
	"slices"

	"dormouse/agent"
)

// Stats implements agent.Instances, of this node alone. An empty manager means
// all managers of all scopes, without keys.
func (h *Host) Stats(_ context.Context, scope, manager string) (agent.ManagerStats, error) {
	if scope == "" {
		scope = agent.DefaultScope
	}
	n := agent.NodeStats{Node: h.o.Node}
	h.mu.Lock()
	for id, f := range h.families {
		if manager == "" || id == (familyID{scope, manager}) {
			f.count(&n, manager != "")
		}
	}
	h.mu.Unlock()
	slices.Sort(n.Keys)
	if len(n.Keys) > agent.ListLimitMax {
		n.Keys = n.Keys[:agent.ListLimitMax]
	}
	return agent.ManagerStats{Manager: manager, Nodes: []agent.NodeStats{n}}, nil
}

// count adds a family's numbers. Host.mu is held.
func (f *family) count(n *agent.NodeStats, keys bool) {
	for key, i := range f.instances {
		switch {
		case i.status != agent.InstanceAwake:
			n.Waking++
			continue
		case i.stopping || i.leaving:
			n.Draining++
		default:
			n.Awake++
		}
		n.Attachments += len(i.attachments)
		if keys {
			n.Keys = append(n.Keys, key)
		}
	}
	c := f.counts
	n.Signals += c.signals
	n.Wakes += c.wakes
	n.Hibernated += c.hibernated
	n.Failed += c.failed
	n.Crashed += c.crashed
}
