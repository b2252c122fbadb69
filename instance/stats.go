package instance

import (
	"context"
	"slices"

	"dormouse/agent"
)

// counters counts the instances of one manager, or of all. Each change of an
// instance updates them, so reading costs the same for any number. Guarded by
// shared.mu.
type counters struct {
	waking, awake, draining, attachments int

	signals, wakes, hibernated, failed, crashed uint64 // since the counters were created
}

// countedStatus is the state under which an instance is counted; the zero value
// is not counted.
type countedStatus struct {
	status      status
	attachments int16
}

// status is an agent.InstanceStatus in one byte.
type status uint8

const (
	statusNone status = iota
	statusWaking
	statusAwake
	statusDraining
	statusDormant // hibernated, but calls wait: it wakes for them
)

// currentStatus returns the state under which an instance must be counted. The
// caller holds mu.
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

// recount updates the counters for an instance, and tells watchers of a changed
// status and its reason. Every change of a field that currentStatus reads must
// call it. The caller holds mu.
func (tb *table) recount(i *instance, why string) {
	now := i.currentStatus()
	if now == i.counted {
		return
	}
	for _, t := range []*counters{&tb.counters, &i.manager.counters} {
		t.add(i.counted, -1)
		t.add(now, 1)
	}
	was := i.counted.status.public()
	i.counted = now
	if is := now.status.public(); is != was {
		tb.notifyWatchers(i, is, why)
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

// count applies one event to the counters of a manager and of all. The caller
// holds mu.
func (tb *table) count(ms *managerState, one func(*counters)) {
	one(&tb.counters)
	one(&ms.counters)
}

func (t *counters) stats(node string) agent.NodeStats {
	return agent.NodeStats{
		Node: node, Awake: t.awake, Waking: t.waking, Draining: t.draining, Attachments: t.attachments,
		Signals: t.signals, Wakes: t.wakes, Hibernated: t.hibernated, Failed: t.failed, Crashed: t.crashed,
	}
}

// Stats implements agent.Instances for this node alone. An empty manager
// returns the totals of all managers of all scopes, without keys. The counts of
// one manager restart after it had no instance and no call for
// managerIdleAfter.
func (h *Host) Stats(_ context.Context, scope, manager string) (agent.ManagerStats, error) {
	if scope == "" {
		scope = agent.DefaultScope
	}
	h.mu.Lock()
	n := h.table.counters.stats(h.o.Node)
	if manager != "" {
		n = agent.NodeStats{Node: h.o.Node}
		if ms := h.table.managers[managerID{scope, manager}]; ms != nil {
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

// awakeKeys returns the keys of the awake instances. The caller holds mu.
func (ms *managerState) awakeKeys() []string {
	keys := make([]string, 0, len(ms.instances))
	for key, i := range ms.instances {
		if i.status == agent.InstanceAwake {
			keys = append(keys, key)
		}
	}
	return keys
}
