package jepsen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// CoverRun is one run of a cover: some workloads that run in parallel under one
// nemesis on a cluster of one size.
type CoverRun struct {
	Workloads []string
	Nemesis   string
	Nodes     int
	Seed      uint64
}

// Key identifies the run within its cover. It changes only if the cover changes.
func (r CoverRun) Key() string {
	return fmt.Sprintf("%s/%d/%s/%d", r.Nemesis, r.Nodes, strings.Join(r.Workloads, "+"), r.Seed)
}

// Options returns the options of the run; the caller adds a directory.
func (r CoverRun) Options(long time.Duration) Options {
	return Options{Workloads: r.Workloads, Nemeses: []string{r.Nemesis}, Nodes: r.Nodes, Seed: r.Seed, Time: long}
}

// workloadsARun is the maximum number of workloads in one run. Each then gets a third
// of the machine's throughput, which gives its checker enough calls.
const workloadsARun = 3

// Cover draws runs from a seed. At least one run has each pair of a workload and a
// nemesis, of a workload and a size, and of a nemesis and a size. The same arguments
// give the same runs.
func Cover(seed uint64, workloads, nemeses []string, sizes []int) []CoverRun {
	draw := rand.New(rand.NewPCG(seed, 0xc07e5))
	groups := split(draw, workloads)
	var runs []CoverRun
	add := func(workloads []string, nemesis string, nodes int) {
		runs = append(runs, CoverRun{Workloads: workloads, Nemesis: nemesis, Nodes: nodes, Seed: draw.Uint64N(1 << 32)})
	}
	// Each nemesis runs with all groups and all sizes. The pairing of group and size
	// rotates from one nemesis to the next.
	for i, nemesis := range nemeses {
		for j := range max(len(groups), len(sizes)) {
			add(groups[j%len(groups)], nemesis, sizes[(i+j)%len(sizes)])
		}
	}
	// With fewer nemeses than sizes the rotation leaves some pairs out.
	for _, group := range groups {
		for _, nodes := range sizes {
			met := slices.ContainsFunc(runs, func(r CoverRun) bool { return r.Nodes == nodes && slices.Equal(r.Workloads, group) })
			if !met {
				add(group, nemeses[0], nodes)
			}
		}
	}
	return runs
}

// split divides the workloads evenly into groups of at most workloadsARun.
func split(draw *rand.Rand, workloads []string) [][]string {
	dealt := slices.Clone(workloads)
	draw.Shuffle(len(dealt), func(i, j int) { dealt[i], dealt[j] = dealt[j], dealt[i] })
	groups := make([][]string, (len(dealt)+workloadsARun-1)/workloadsARun)
	for i, w := range dealt {
		groups[i%len(groups)] = append(groups[i%len(groups)], w)
	}
	for _, g := range groups {
		slices.Sort(g)
	}
	return groups
}
