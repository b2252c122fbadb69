package nemesis

import (
	"context"
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/testbed"
)

var partitioning = fault{
	name: "partition", about: "cut networks: halves, one node, a bridge, a ring of majorities, the leader, one way only, Raft, gossip or clients only; a leader whose connections are refused",
	needs: []testbed.Capability{testbed.CanPartition},
	variants: append([]variant{
		parting("halves", 3, halves),
		parting("single", 3, single),
		parting("bridge", 3, bridge),
		parting("ring of majorities", 5, ring),
		parting("leader from nodes", 3, leaderFromNodes),
		parting("leader from all", 3, leaderFromAll),
		parting("leader receives nothing", 3, deaf),
		parting("leader sends nothing", 3, mute),
		parting("raft only", 3, halvesOf(testbed.RaftPorts)),
		parting("gossip only", 3, halvesOf(testbed.GossipPorts)),
		parting("clients only", 1, clientsOnly),
		parting("clients unheard", 1, clientsUnheard),
		{name: "the leader is refused, and then hears the next one", nodesMin: 3, shortest: 1500 * time.Millisecond, longest: 4 * time.Second, begin: refuseLeader},
	}, ofPrograms(
		parting("a program from all", 1, programFromAll),
		parting("a program from the leader", 1, programFromLeader),
		parting("a program receives nothing", 1, programDeaf),
		parting("a program sends nothing", 1, programMute),
		parting("programs from each other", 1, programsApart),
	)...),
}

// parting returns a variant that cuts links. cut returns a description and the
// function that does it.
func parting(name string, nodesMin int, cut func(ctx context.Context, a *act) (what string, do func())) variant {
	return variant{
		name: name, nodesMin: nodesMin, shortest: 2 * time.Second, longest: 15 * time.Second,
		begin: func(ctx context.Context, a *act) (undo, error) {
			what, do := cut(ctx, a)
			a.begins("%s", what)
			do()
			return a.remove(), nil
		},
	}
}

// sides returns a random majority and the other members.
func (a *act) sides() (most, rest []string) {
	all := names(a.shuffled())
	return all[:len(all)/2+1], all[len(all)/2+1:]
}

// halves cuts the nodes into two sides. Clients reach both.
func halves(ctx context.Context, a *act) (string, func()) { return halvesOf(testbed.AllPorts)(ctx, a) }

func halvesOf(ports testbed.Ports) func(ctx context.Context, a *act) (string, func()) {
	return func(_ context.Context, a *act) (string, func()) {
		most, rest := a.sides()
		return strings.Join(most, ", ") + " from " + strings.Join(rest, ", "), func() { a.cut(most, rest, ports) }
	}
}

// single cuts one node off from nodes, clients and programs.
func single(_ context.Context, a *act) (string, func()) {
	all := names(a.shuffled())
	return all[0] + " from all", func() { a.cut(all[:1], append(all[1:], a.beside()...), testbed.AllPorts) }
}

// bridge leaves one node connected to both halves, which are cut from each other.
func bridge(_ context.Context, a *act) (string, func()) {
	all := names(a.shuffled())
	over, rest := all[0], all[1:]
	left, right := rest[:len(rest)/2], rest[len(rest)/2:]
	return over + " hears " + strings.Join(left, ", ") + " and " + strings.Join(right, ", "), func() { a.cut(left, right, testbed.AllPorts) }
}

// ring connects each node to a different majority.
func ring(_ context.Context, a *act) (string, func()) {
	all := names(a.shuffled())
	reach := (len(all)/2 + 1) / 2 // on each side
	return "a ring of " + strings.Join(all, ", "), func() {
		for i, from := range all {
			for j, to := range all {
				if apart := (j - i + len(all)) % len(all); apart > reach && apart < len(all)-reach {
					a.cutTo([]string{from}, []string{to}, testbed.AllPorts)
				}
			}
		}
	}
}

// others returns the names of all members but one.
func (a *act) others(h *testbed.Host) []string { return names(a.except(h)) }

// except returns the members that are not among hosts.
func (f *field) except(hosts ...*testbed.Host) []*testbed.Host {
	return slices.DeleteFunc(f.members(), func(h *testbed.Host) bool { return slices.Contains(hosts, h) })
}

// leaderFromNodes cuts the leader off from the other nodes. Clients still reach it.
func leaderFromNodes(ctx context.Context, a *act) (string, func()) {
	h := a.leader(ctx)
	return h.Name(), func() { a.cut([]string{h.Name()}, a.others(h), testbed.AllPorts) }
}

func leaderFromAll(ctx context.Context, a *act) (string, func()) {
	h := a.leader(ctx)
	return h.Name(), func() {
		a.cut([]string{h.Name()}, append(a.others(h), a.beside()...), testbed.AllPorts)
	}
}

// deaf cuts the links to the leader. What the leader sends arrives.
func deaf(ctx context.Context, a *act) (string, func()) {
	h := a.leader(ctx)
	return h.Name(), func() { a.cutTo(a.others(h), []string{h.Name()}, testbed.AllPorts) }
}

func mute(ctx context.Context, a *act) (string, func()) {
	h := a.leader(ctx)
	return h.Name(), func() { a.cutTo([]string{h.Name()}, a.others(h), testbed.AllPorts) }
}

// clientsOnly cuts some or all nodes off from clients. The nodes reach each other.
func clientsOnly(_ context.Context, a *act) (string, func()) {
	all := names(a.shuffled())
	some := all[:1+a.draw.IntN(len(all))]
	return "from " + strings.Join(some, ", "), func() { a.cut([]string{testbed.Clients}, some, testbed.AllPorts) }
}

// clientsUnheard lets calls arrive and loses the answers, so that clients do not learn
// the outcomes.
func clientsUnheard(_ context.Context, a *act) (string, func()) {
	all := names(a.shuffled())
	some := all[:1+a.draw.IntN(len(all))]
	return "by " + strings.Join(some, ", "), func() { a.cutTo(some, []string{testbed.Clients}, testbed.AllPorts) }
}
