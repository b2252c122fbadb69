package fsm

import (
	"slices"
	"strings"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
)

// A host is a member that keeps instances and no data. Its member row exists exactly as long as its
// lease. The commit that begins the lease writes it, and the entry that ends the lease removes it.

// currentRoster returns the current roster, which the caller must not change.
func (b *batch) currentRoster() roster {
	if b.roster != nil {
		return *b.roster
	}
	return roster{members: b.machine.members, removed: b.machine.removed, level: b.machine.level}
}

// beHost writes or updates the member row of a host.
func (c machineCommit) beHost(p *logpb.RenewNodeLease) error {
	row := layout.Member{
		ID: p.Node, Incarnation: p.Incarnation, RaftAddr: p.Host.Addr, Version: p.Host.Version,
		FeatureLevelMax: p.Host.FeatureLevelMax, Zone: p.Host.Zone, Weight: int(p.Host.Weight), Host: true,
	}
	if err := validHost(row); err != nil {
		return err
	}
	r := c.batch.currentRoster()
	if _, gone := r.removed[row.Incarnation]; gone {
		return agent.Errorf(agent.CodeDeleted, "host %q was removed from the cluster: start it again", row.ID)
	}
	hosts := 0
	for _, m := range r.members {
		if m == row {
			return nil
		}
		if m.Host {
			hosts++
		}
		if err := inTheWay(m, row); err != nil {
			return err
		}
	}
	at, found := slices.BinarySearchFunc(r.members, row.ID, func(m layout.Member, id string) int { return strings.Compare(m.ID, id) })
	if !found && hosts >= layout.HostsMax {
		return agent.TooLarge("hosts", "hosts_max", hosts+1, layout.HostsMax)
	}
	raw := command.Marshal(encodeMember(row))
	own := c.batch.ownRoster()
	if found {
		own.members[at] = row
	} else {
		own.members = slices.Insert(own.members, at, row)
	}
	c.Rows.Set(kv.KindMember+row.ID, raw)
	c.batch.moved = true
	return nil
}

func validHost(row layout.Member) error {
	for _, fact := range []struct{ field, value string }{
		{"node", row.ID}, {"incarnation", row.Incarnation}, {"host.addr", row.RaftAddr}, {"host.version", row.Version},
	} {
		if err := agent.ValidKey(fact.field, fact.value); err != nil {
			return err
		}
	}
	if row.Weight > layout.HostWeightMax {
		return agent.TooLarge("host.weight", "host_weight_max", row.Weight, layout.HostWeightMax)
	}
	if row.Zone == "" {
		return nil
	}
	return agent.ValidKey("host.zone", row.Zone)
}

// inTheWay returns an error if a host has the name or the address of another member. The error is
// final if that is a node; if it is a host, it lasts until its lease ends.
func inTheWay(m, host layout.Member) error {
	var what string
	switch {
	case m.ID == host.ID && (m.Incarnation != host.Incarnation || !m.Host):
		what = "name " + m.ID
	case m.ID != host.ID && m.RaftAddr == host.RaftAddr:
		what = "address " + m.RaftAddr
	default:
		return nil
	}
	code, who := agent.CodeAlreadyExists, "node"
	if m.Host {
		code, who = agent.CodeAlreadyClaimed, "host"
	}
	e := agent.Errorf(code, "the %s is used by %s %s: choose another", what, who, m.ID)
	if m.Host {
		e.Detail += ", or wait until its lease lapses"
	}
	e.Holder = m.ID
	return e
}

// dropHost removes the member row of a host whose lease has ended, and its rules. It keeps the rows of nodes.
func (b *batch) dropHost(l layout.NodeLease) {
	is := func(m layout.Member) bool { return m.ID == l.Node && m.Incarnation == l.Incarnation && m.Host }
	if !slices.ContainsFunc(b.currentRoster().members, is) {
		return
	}
	r := b.ownRoster()
	r.members = slices.DeleteFunc(r.members, is)
	b.Rows.Remove(kv.KindMember + l.Node)
	b.endRules(l.Node)
}

// agreeable refuses a lease whose Go handlers are unordered or too many. Below
// layout.RemoteTurnsLevel the handlers of any two leases must be such that one has all of the
// other's. The node with the most handlers then owns the instances, so one must have them all.
func (b *batch) agreeable(node string, handlers []string) error {
	if len(handlers) > layout.LeaseHandlersMax {
		return agent.TooLarge("handlers", "lease_handlers_max", len(handlers), layout.LeaseHandlersMax)
	}
	for i, handler := range handlers {
		if err := agent.ValidKey("handlers", handler); err != nil {
			return err
		}
		if i > 0 && handlers[i-1] >= handler {
			return agent.Invalid("handlers", "the handlers are not sorted, or one is duplicated: %q after %q", handler, handlers[i-1])
		}
	}
	if b.Level >= layout.RemoteTurnsLevel {
		return nil
	}
	for _, l := range b.placed.leases {
		lacks, more := layout.MissingHandlers(handlers, l.Handlers), layout.MissingHandlers(l.Handlers, handlers)
		if l.Node == node || len(lacks) == 0 || len(more) == 0 {
			continue
		}
		e := agent.Errorf(agent.CodeConflict,
			"%s has the Go handlers %s, which %s has not, and lacks its %s: one of the two must have all of the other's",
			node, strings.Join(more, ", "), l.Node, strings.Join(lacks, ", "))
		e.Holder = l.Node
		return e
	}
	return nil
}
