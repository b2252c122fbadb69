package nemesis

import (
	"context"

	"dormouse/jepsen/testbed"
)

// ofPrograms returns variants that need a run with programs.
func ofPrograms(variants ...variant) []variant {
	for i := range variants {
		variants[i].programs = true
	}
	return variants
}

// programs returns the programs in random order.
func (a *act) programs() []*testbed.Host {
	programs := a.Bed.Programs()
	a.draw.Shuffle(len(programs), func(i, j int) { programs[i], programs[j] = programs[j], programs[i] })
	return programs
}

// program returns a random program.
func (a *act) program() *testbed.Host { return a.programs()[0] }

// beside returns the hosts on the network that are not nodes.
func (a *act) beside() []string { return append(names(a.Bed.Programs()), testbed.Clients) }

// around returns a random program, and all nodes and other programs.
func (a *act) around() (program, others []string) {
	all := names(a.programs())
	return all[:1], append(all[1:], names(a.members())...)
}

// programFromAll cuts a program off from all. It still owns its partitions.
func programFromAll(_ context.Context, a *act) (string, func()) {
	p, others := a.around()
	return p[0], func() { a.cut(p, others, testbed.AllPorts) }
}

// programFromLeader cuts a program off from the leader. It still writes through the
// other nodes when the leader may have given its partitions away.
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

// programsApart cuts the programs off from each other. So a program's remote turns
// reach no other program.
func programsApart(_ context.Context, a *act) (string, func()) {
	all := names(a.Bed.Programs())
	return "from each other", func() { a.cut(all, all, testbed.AllPorts) }
}
