package sim

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"dormouse/config"
	"dormouse/jepsen/sim/simnet"
)

// Plan is all that a run draws before it begins: the faults, and the settings of the
// hosts and links.
type Plan struct {
	Steps []Step        `json:"steps"`
	Knobs []Knobs       `json:"knobs"` // of each host
	Link  simnet.Link   `json:"link"`  // between every two hosts
	Lease time.Duration `json:"lease"` // of nodes on their partitions
}

// Step is one fault.
type Step struct {
	N       int           `json:"n"`
	At      time.Duration `json:"at"`
	For     time.Duration `json:"for"`
	Fault   string        `json:"fault"`
	Variant string        `json:"variant"`
	Seed    uint64        `json:"seed"`
}

// String returns the step as a line.
func (s Step) String() string {
	return fmt.Sprintf("%d: at %v for %v: %s/%s", s.N, s.At, s.For, s.Fault, s.Variant)
}

const (
	// faultFree is the time before the first fault.
	faultFree = 2 * time.Second
	// gapMin and gapMax bound the time between two faults of a lane, if there are at most
	// lanesUsual lanes. With more lanes it grows: a cluster that is always down does little.
	gapMin, gapMax = 500 * time.Millisecond, 8 * time.Second
	lanesUsual     = 2
)

// laneSteps is more than the number of steps of a lane: the number of a step says its lane,
// and its place there, so that a shorter run has the same numbers.
const laneSteps = 10_000

// DrawPlan draws the plan of a run. The same options give the same plan. Steps in Skip are
// left out; the others keep their numbers.
func DrawPlan(o Options) (Plan, error) {
	draw := rand.New(rand.NewPCG(o.Seed, 2))
	p := Plan{
		Lease: oneOf(draw, time.Second, 2*time.Second, 5*time.Second),
		Link: simnet.Link{
			Delay:  oneOf(draw, 50*time.Microsecond, 200*time.Microsecond, time.Millisecond),
			Jitter: oneOf(draw, 20*time.Microsecond, 200*time.Microsecond),
			Loss:   oneOf(draw, 0, 0, 0.0001), Duplicate: oneOf(draw, 0, 0.01),
		},
	}
	timing := oneOf(draw, config.TimingLAN, config.TimingWAN)
	for range o.Nodes {
		p.Knobs = append(p.Knobs, drawKnobs(draw, timing))
	}
	for i, name := range o.Nemeses {
		variants, err := variantsOf(name)
		if err != nil {
			return p, err
		}
		for j, s := range drawLane(o, name, variants) {
			s.N = (i+1)*laneSteps + j
			p.Steps = append(p.Steps, s)
		}
	}
	slices.SortStableFunc(p.Steps, func(a, b Step) int { return int(a.At - b.At) })
	p.Steps = slices.DeleteFunc(p.Steps, func(s Step) bool { return slices.Contains(o.Skip, s.N) })
	return p, nil
}

// drawLane draws the steps of one nemesis.
func drawLane(o Options, lane string, variants []variant) (steps []Step) {
	name := fnv.New64a()
	_, _ = name.Write([]byte(lane)) // never fails
	draw := rand.New(rand.NewPCG(o.Seed, name.Sum64()))
	var fit []variant
	for _, v := range variants {
		if v.nodesMin <= o.Nodes {
			fit = append(fit, v)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	gap := gapMax * time.Duration(max(lanesUsual, len(o.Nemeses))) / lanesUsual
	for at := faultFree + between(draw, 0, gap); ; at += between(draw, gapMin, gap) {
		v := fit[draw.IntN(len(fit))]
		long := spread(draw, v.shortest, v.longest).Round(time.Millisecond)
		at = at.Round(time.Millisecond)
		if at+long > o.Time {
			return steps
		}
		steps = append(steps, Step{At: at, For: long, Fault: v.fault, Variant: v.name, Seed: draw.Uint64()})
		at += long
	}
}

// spread draws a duration, evenly by its logarithm: short faults find other bugs than long
// ones.
func spread(draw *rand.Rand, low, high time.Duration) time.Duration {
	if low >= high {
		return low
	}
	return time.Duration(float64(low) * math.Pow(float64(high)/float64(low), draw.Float64()))
}

// variantsOf returns the variants of a nemesis: a fault, or "fault/variant".
func variantsOf(name string) ([]variant, error) {
	if name == "none" {
		return nil, nil
	}
	group, only, one := strings.Cut(name, "/")
	var found []variant
	for _, v := range variants {
		if v.fault == group && (!one || v.name == only || v.word() == only) {
			found = append(found, v)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("the simulator has no nemesis %q: use one of none, %s", name, strings.Join(Nemeses(), ", "))
	}
	return found, nil
}

// word returns the variant's name on the command line: with hyphens, as in package nemesis.
func (v variant) word() string {
	return strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(v.name)
}

// Nemeses returns the names of all faults.
func Nemeses() []string {
	var names []string
	for _, v := range variants {
		if !slices.Contains(names, v.fault) {
			names = append(names, v.fault)
		}
	}
	return names
}
