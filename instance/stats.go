package instance

import (
	"context"
	"slices"

	"dormouse/agent"
)

// counters counts instances, a manager's or all, as they change: asking for it costs
// the same however many there are. Host.mu guards it.
type counters struct {
	waking, awake, draining, attachments int

	signals, wakes, hibernated, failed, crashed uint64 // since it was begun
}

// countedStatus is how an instance is counted; its zero value is not at all.
type countedStatus struct {
	status      status
	attachments int16
}

// status is an InstanceStatus, in less room.
type status uint8

const (
	statusNone status = iota
	statusWaking
	statusAwake
	statusDraining
	statusDormant // asleep, with calls that wait: it wakes for them
)

// currentStatus is how an instance is to be counted. mu is held.
func (i *instance) currentStatus() countedStatus {
	switch {
	case i.removed != nil:
		return countedStatus{}
	case i.status == agent.InstanceDormant:
		return countedStatus{status: statusDormant}
	case i.status != agent.InstanceAwake:
		return countedStatus{status: statusWaking}
	case i.stopping || i.hibernating:
		return countedStatus{status: statusDraining, attachments: int16(len(i.attachments))}
	default:
		return countedStatus{status: statusAwake, attachments: int16(len(i.attachments))}
	}
}

// recount counts an instance as it is by now, and tells who watches of another
// status, and why. Whoever changes what shown looks at calls it. mu is held.
func (h *Host) recount(i *instance, why string) {
	now := i.currentStatus()
	if now == i.counted {
		return
	}
	for _, t := range []*counters{&h.counters, &i.manager.counters} {
		t.add(i.counted, -1)
		t.add(now, 1)
	}
	was := i.counted.status.public()
	i.counted = now
	if is := now.status.public(); is != was {
		h.notifyWatchers(i, is, why)
	}
}

func (t *counters) add(s countedStatus, n int) {
	switch s.status {
	case statusNone:
	case statusWaking, statusDormant:
		t.waking += n
	case statusAwake:
		t.awake += n
	case statusDraining:
		t.draining += n
	}
	t.attachments += n * int(s.attachments)
}

// count counts something that came to pass. mu is held.
func (h *Host) count(ms *managerState, one func(*counters)) {
	one(&h.counters)
	one(&ms.counters)
}

func (t *counters) stats(node string) agent.NodeStats {
	return agent.NodeStats{
		Node: node, Awake: t.awake, Waking: t.waking, Draining: t.draining, Attachments: t.attachments,
		Signals: t.signals, Wakes: t.wakes, Hibernated: t.hibernated, Failed: t.failed, Crashed: t.crashed,
	}
}

// Stats implements agent.Instances, of this node alone. An empty manager means
// all managers of all scopes, without keys. Those of one manager begin anew
// where it has had no instance here for managerIdleAfter.
func (h *Host) Stats(_ context.Context, scope, manager string) (agent.ManagerStats, error) {
	if scope == "" {
		scope = agent.DefaultScope
	}
	h.mu.Lock()
	n := h.counters.stats(h.o.Node)
	if manager != "" {
		n = agent.NodeStats{Node: h.o.Node}
		if ms := h.managers[managerID{scope, manager}]; ms != nil {
			n = ms.counters.stats(h.o.Node)
			n.Keys = ms.awakeKeys()
		}
	}
	h.mu.Unlock()
	slices.Sort(n.Keys)
	if len(n.Keys) > agent.ListLimitMax {
		n.Keys = n.Keys[:agent.ListLimitMax]
	}
	return agent.ManagerStats{Manager: manager, Nodes: []agent.NodeStats{n}}, nil
}

// awakeKeys is the keys of those that are awake. mu is held.
func (ms *managerState) awakeKeys() []string {
	keys := make([]string, 0, len(ms.instances))
	for key, i := range ms.instances {
		if i.status == agent.InstanceAwake {
			keys = append(keys, key)
		}
	}
	return keys
}
