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

// Plan is the faults of a run.
type Plan struct {
	Seed  uint64 `json:"seed"`
	Nodes int    `json:"nodes"`

	Programs bool     `json:"programs,omitempty"` // take part
	Steps    []Step   `json:"steps"`
	Notes    []string `json:"notes,omitempty"` // what was asked for and left out, and why
}

const (
	// calm is the time before the first fault: what a sound cluster holds is
	// measured in it.
	calm = 3 * time.Second
	// gapMin and gapMax bound the time between two faults of a lane, in which
	// the cluster recovers.
	gapMin, gapMax = time.Second, 4 * time.Second
	// share is the most of a run that one step may take.
	share = 0.5
)

// Draw makes the plan of a run of so long against a cluster of so many nodes, in
// which programs take part or not.
// The same arguments give the same plan. Names that there are not are an error
// which lists those that there are.
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

// draw makes the lane of one fault, by the name that it was asked for. Every
// variant that makes sense at that size comes once before any comes again.
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
	if len(fit) == 0 && len(unmet) > 0 { // else nobody misses them
		note = fmt.Sprintf("%s: no programs take part, which are for %s", f.name, strings.Join(unmet, ", "))
	}
	if len(fit) == 0 {
		return nil, note
	}
	deck := deck{all: fit, draw: draw}
	for at := calm + between(draw, 0, gapMin); ; at += between(draw, gapMin, gapMax) {
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

// deck deals variants: each once before any comes again.
type deck struct {
	all  []variant
	left []variant
	draw *rand.Rand
}

// next is the next variant that the time which is left is long enough for; not
// ok if there is none.
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

// between is a duration in the range, evenly.
func between(draw *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(draw.Int64N(int64(high-low)+1))
}

// spread is a duration in the range, as likely in its first tenfold as in its
// second: short faults find other things than long ones.
func spread(draw *rand.Rand, low, high time.Duration) time.Duration {
	if low >= high {
		return low
	}
	return time.Duration(float64(low) * math.Pow(float64(high)/float64(low), draw.Float64()))
}
