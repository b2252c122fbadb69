package nemesis

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Plan is the list of the faults of a run.
type Plan struct {
	Seed  uint64 `json:"seed"`
	Nodes int    `json:"nodes"`

	Programs bool     `json:"programs,omitempty"` // whether the run has programs
	Steps    []Step   `json:"steps"`
	Notes    []string `json:"notes,omitempty"` // requested variants that were left out, and why
}

const (
	// faultFree is the time before the first fault. The resource use of a healthy
	// cluster is measured in it.
	faultFree = 3 * time.Second
	// gapMin and gapMax bound the time between two faults of a lane, in which the
	// cluster recovers.
	gapMin, gapMax = time.Second, 4 * time.Second
	// share is the maximum fraction of a run for one step.
	share = 0.5
)

// Draw draws the plan of a run of duration total against a cluster with this number of
// nodes, with or without programs. The same arguments give the same plan. The error
// for an unknown fault lists the known ones.
func Draw(seed uint64, faults []string, nodes int, programs bool, total time.Duration) (Plan, error) {
	p := Plan{Seed: seed, Nodes: nodes, Programs: programs}
	for _, name := range faults {
		f, err := find(name)
		if err != nil {
			return Plan{}, err
		}
		steps, note := f.draw(name, seed, nodes, programs, total)
		p.Steps = append(p.Steps, steps...)
		if note != "" {
			p.Notes = append(p.Notes, note)
		}
	}
	slices.SortStableFunc(p.Steps, func(a, b Step) int { return int(a.At - b.At) })
	for i := range p.Steps {
		p.Steps[i].N = i + 1
	}
	return p, nil
}

// draw draws the lane of one fault. lane is the requested name. Every variant that
// fits the size occurs once before any repeats.
func (f fault) draw(lane string, seed uint64, nodes int, programs bool, total time.Duration) (steps []Step, note string) {
	name := fnv.New64a()
	_, _ = name.Write([]byte(lane))
	draw := rand.New(rand.NewPCG(seed, name.Sum64()))
	var fit []variant
	var unfit, unmet []string
	for _, v := range f.variants {
		switch {
		case v.programs && !programs:
			unmet = append(unmet, v.name)
		case v.nodesMin <= nodes:
			fit = append(fit, v)
		default:
			unfit = append(unfit, v.name)
		}
	}
	if len(unfit) > 0 {
		note = fmt.Sprintf("%s: a cluster of %d is too small for %s", f.name, nodes, strings.Join(unfit, ", "))
	}
	if len(fit) == 0 && len(unmet) > 0 { // otherwise the variants are not missed
		note = fmt.Sprintf("%s: the run has no programs, which these variants need: %s", f.name, strings.Join(unmet, ", "))
	}
	if len(fit) == 0 {
		return nil, note
	}
	deck := deck{all: fit, draw: draw}
	for at := faultFree + between(draw, 0, gapMin); ; at += between(draw, gapMin, gapMax) {
		v, ok := deck.next(total - at)
		if !ok {
			return steps, note
		}
		long := spread(draw, v.shortest, min(v.longest, max(v.shortest, time.Duration(share*float64(total)))))
		long = min(long, total-at)
		steps = append(steps, Step{At: at.Round(time.Millisecond), For: long.Round(time.Millisecond), Fault: f.name, Variant: v.name, Seed: draw.Uint64()})
		at += long + v.mends
	}
}

// deck returns variants in random order, each once before any repeats.
type deck struct {
	all  []variant
	left []variant
	draw *rand.Rand
}

// next returns the next variant that fits into the remaining time; ok is false if
// there is none.
func (d *deck) next(left time.Duration) (v variant, ok bool) {
	fits := func(v variant) bool { return v.shortest <= left }
	i := slices.IndexFunc(d.left, fits)
	if i < 0 {
		d.left = slices.Clone(d.all)
		d.draw.Shuffle(len(d.left), func(i, j int) { d.left[i], d.left[j] = d.left[j], d.left[i] })
		if i = slices.IndexFunc(d.left, fits); i < 0 {
			return variant{}, false
		}
	}
	v = d.left[i]
	d.left = slices.Delete(d.left, i, i+1)
	return v, true
}

// between returns an evenly distributed duration in the range.
func between(draw *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(draw.Int64N(int64(high-low)+1))
}

// spread returns a duration in the range, evenly distributed by its logarithm: short
// faults find other bugs than long ones.
func spread(draw *rand.Rand, low, high time.Duration) time.Duration {
	if low >= high {
		return low
	}
	return time.Duration(float64(low) * math.Pow(float64(high)/float64(low), draw.Float64()))
}
