package instance

import (
	"context"
	"slices"

	"dormouse/agent"
)

// tally counts instances, a manager's or all, as they change: asking for it costs
// the same however many there are. Host.mu guards it.
type tally struct {
	waking, awake, draining, attachments int

	signals, wakes, hibernated, failed, crashed uint64 // since it was begun
}

// seen is how an instance is counted; its zero value is not at all.
type seen struct {
	as          status
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

// shown is how an instance is to be counted. mu is held.
func (i *instance) shown() seen {
	switch {
	case i.gone != nil:
		return seen{}
	case i.status == agent.InstanceDormant:
		return seen{as: statusDormant}
	case i.status != agent.InstanceAwake:
		return seen{as: statusWaking}
	case i.stopping || i.leaving:
		return seen{as: statusDraining, attachments: int16(len(i.attachments))}
	default:
		return seen{as: statusAwake, attachments: int16(len(i.attachments))}
	}
}

// recount counts an instance as it is by now, and tells who watches of another
// status, and why. Whoever changes what shown looks at calls it. mu is held.
func (h *Host) recount(i *instance, why string) {
	now := i.shown()
	if now == i.seen {
		return
	}
	for _, t := range []*tally{&h.tally, &i.family.tally} {
		t.add(i.seen, -1)
		t.add(now, 1)
	}
	was := i.seen.as.public()
	i.seen = now
	if is := now.as.public(); is != was {
		h.tell(i, is, why)
	}
}

func (t *tally) add(s seen, n int) {
	switch s.as {
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
func (h *Host) count(f *family, one func(*tally)) {
	one(&h.tally)
	one(&f.tally)
}

func (t *tally) stats(node string) agent.NodeStats {
	return agent.NodeStats{
		Node: node, Awake: t.awake, Waking: t.waking, Draining: t.draining, Attachments: t.attachments,
		Signals: t.signals, Wakes: t.wakes, Hibernated: t.hibernated, Failed: t.failed, Crashed: t.crashed,
	}
}

// Stats implements agent.Instances, of this node alone. An empty manager means
// all managers of all scopes, without keys. Those of one manager begin anew
// where it has had no instance here for familyIdle.
func (h *Host) Stats(_ context.Context, scope, manager string) (agent.ManagerStats, error) {
	if scope == "" {
		scope = agent.DefaultScope
	}
	h.mu.Lock()
	n := h.tally.stats(h.o.Node)
	if manager != "" {
		n = agent.NodeStats{Node: h.o.Node}
		if f := h.families[familyID{scope, manager}]; f != nil {
			n = f.tally.stats(h.o.Node)
			n.Keys = f.awake()
		}
	}
	h.mu.Unlock()
	slices.Sort(n.Keys)
	if len(n.Keys) > agent.ListLimitMax {
		n.Keys = n.Keys[:agent.ListLimitMax]
	}
	return agent.ManagerStats{Manager: manager, Nodes: []agent.NodeStats{n}}, nil
}

// awake is the keys of those that are awake. mu is held.
func (f *family) awake() []string {
	keys := make([]string, 0, len(f.instances))
	for key, i := range f.instances {
		if i.status == agent.InstanceAwake {
			keys = append(keys, key)
		}
	}
	return keys
}
