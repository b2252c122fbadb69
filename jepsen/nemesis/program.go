package nemesis

import (
	"context"

	"dormouse/jepsen/testbed"
)

// ofPrograms makes variants that are for runs in which programs take part.
func ofPrograms(variants ...variant) []variant {
	for i := range variants {
		variants[i].programs = true
	}
	return variants
}

// programs are those that take part, in random order.
func (a *act) programs() []*testbed.Host {
	programs := a.Bed.Programs()
	a.draw.Shuffle(len(programs), func(i, j int) { programs[i], programs[j] = programs[j], programs[i] })
	return programs
}

// program is a random one.
func (a *act) program() *testbed.Host { return a.programs()[0] }

// beside are those on the network who are no nodes.
func (a *act) beside() []string { return append(names(a.Bed.Programs()), testbed.Clients) }

// around is a random program, and all nodes and other programs.
func (a *act) around() (program, others []string) {
	all := names(a.programs())
	return all[:1], append(all[1:], names(a.members())...)
}

// programFromAll leaves a program what it owns, and nobody to tell of it.
func programFromAll(_ context.Context, a *act) (string, func()) {
	p, others := a.around()
	return p[0], func() { a.cut(p, others, testbed.AllPorts) }
}

// programFromLeader lets a program write through the others what the leader
// may have given to somebody else.
func programFromLeader(ctx context.Context, a *act) (string, func()) {
	p, leader := names([]*testbed.Host{a.program()}), names([]*testbed.Host{a.leader(ctx)})
	return p[0] + " from " + leader[0], func() { a.cut(p, leader, testbed.AllPorts) }
}

func programDeaf(_ context.Context, a *act) (string, func()) {
	p, others := a.around()
	return p[0], func() { a.cutTo(others, p, testbed.AllPorts) }
}

func programMute(_ context.Context, a *act) (string, func()) {
	p, others := a.around()
	return p[0], func() { a.cutTo(p, others, testbed.AllPorts) }
}

// programsApart keeps the programs from each other: what one has no handler for
// reaches none.
func programsApart(_ context.Context, a *act) (string, func()) {
	all := names(a.Bed.Programs())
	return "from each other", func() { a.cut(all, all, testbed.AllPorts) }
}
