package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"dormouse/internal/seededbug"
)

// Hunt is a seeded bug and the kind of run that finds it. Each run has the next seed.
type Hunt struct {
	Bug       seededbug.Bug
	Workloads []string
	Nemeses   []string // empty means huntNemeses
	Nodes     int      // 0 means 3
}

// huntNemeses are the faults of a hunt that names none.
var huntNemeses = []string{"kill", "partition", "slow-net", "power", "disk", "transfer"}

// Orders of hunts: more calls than other runs, since most bugs need callers that meet. The first run is
// short, since it finds most bugs; some need faults that last longer.
const (
	huntTimeFirst = 20 * time.Second
	huntTime      = time.Minute
	huntProcesses = 8
	huntPace      = 20 * time.Millisecond
)

// order returns the order of one run of the hunt.
func (h Hunt) order(seed uint64) Order {
	o := Order{
		Seed: seed, Time: huntTime, Workloads: h.Workloads, Nemeses: h.Nemeses, Nodes: h.Nodes,
		Processes: huntProcesses, Pace: huntPace, Bug: string(h.Bug),
	}
	if seed == 1 {
		o.Time = huntTimeFirst
	}
	if len(o.Nemeses) == 0 {
		o.Nemeses = huntNemeses
	}
	if o.Nodes == 0 {
		o.Nodes = nodesDefault
	}
	return o
}

// Caught is the result of a hunt.
type Caught struct {
	Hunt
	Found bool
	By    []string      // the checks that found it
	Seed  uint64        // of the run that found it, or of the last one
	Runs  int           // that were made
	CPU   time.Duration // that they took
	Why   string        // what the run said, if it stopped early
}

// Hunt makes runs until one finds the bug, or until they have taken most of CPU time.
func (p Program) Hunt(ctx context.Context, h Hunt, most time.Duration) (Caught, error) {
	c := Caught{Hunt: h}
	for seed := uint64(1); c.CPU < most; seed++ {
		d, err := p.Run(ctx, h.order(seed), nil)
		if err != nil {
			return c, err
		}
		c.Seed, c.Runs, c.CPU = seed, c.Runs+1, c.CPU+max(d.CPU, time.Second)
		if c.By = d.Failed(); len(c.By) > 0 {
			c.Found, c.Why = true, d.Broken
			return c, nil
		}
	}
	return c, nil
}

// Hunts returns the hunts of the named bugs, or all.
func Hunts(names ...string) ([]Hunt, error) {
	for _, name := range names {
		if !slices.ContainsFunc(hunts, func(h Hunt) bool { return string(h.Bug) == name }) {
			return nil, fmt.Errorf("the simulator does not hunt a bug %q", name)
		}
	}
	return slices.DeleteFunc(slices.Clone(hunts), func(h Hunt) bool {
		return len(names) > 0 && !slices.Contains(names, string(h.Bug))
	}), nil
}

// HuntTable returns the results as a text table, a line each.
func HuntTable(all []Caught) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "bug\tworkload\tresult\tseed\truns\tCPU\tby")
	for _, c := range all {
		result := "not found"
		if c.Found {
			result = "found"
		}
		by := strings.Join(c.By, ", ")
		if c.Why != "" {
			by += ": " + strings.SplitN(c.Why, "\n", 2)[0]
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%v\t%s\n", c.Bug, strings.Join(c.Workloads, ","), result, c.Seed, c.Runs, c.CPU.Round(time.Second), by)
	}
	_ = w.Flush() // into memory
	return out.String()
}
