package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/sim"
)

// simLine returns the line of one run.
func simLine(d sim.Document) string {
	return fmt.Sprintf("seed %d  %s  hash %s  %v simulated in %v (%.0f times)  %d calls, %d faults",
		d.Order.Seed, d.Verdict, d.Hash, d.Simulated.Round(time.Second), d.Took.Round(100*time.Millisecond), ratio(d.Simulated, d.Took), d.Calls, len(d.Steps))
}

func ratio(simulated, took time.Duration) float64 {
	if took == 0 {
		return 0
	}
	return float64(simulated) / float64(took)
}

// table returns the result for people.
func (s *simDocument) table() string {
	var out strings.Builder
	for _, d := range s.Runs {
		if len(d.Failed()) == 0 {
			continue
		}
		fmt.Fprintf(&out, "seed %d  %s\n  repeat it: %s\n", d.Order.Seed, strings.Join(d.Failed(), ", "), d.Order.Command())
		if d.Broken != "" {
			fmt.Fprintf(&out, "  %s\n", d.Broken)
		}
		for _, step := range d.Steps {
			fmt.Fprintf(&out, "  fault %s\n", step)
		}
		for _, r := range d.Results {
			if r.Verdict != check.OK {
				fmt.Fprintf(&out, "  %s: %s %s\n", r.Check, r.Verdict, r.Why)
			}
			for _, found := range r.Findings {
				fmt.Fprintf(&out, "    %s %s: %s\n", found.Rule, found.Key, found.Detail)
			}
		}
	}
	if len(s.Found) > 0 {
		fmt.Fprintf(&out, "found in kept runs: %s\n", strings.Join(slices.Compact(slices.Sorted(slices.Values(s.Found))), ", "))
	}
	for _, bug := range s.Missed {
		fmt.Fprintf(&out, "the seeded bug %s was not found: its kept run no longer meets the state that it needs; look for another seed with hunt\n", bug)
	}
	for _, seed := range s.Different {
		fmt.Fprintf(&out, "seed %d gave several hashes: the run is not repeatable\n", seed)
	}
	var counts []string
	for _, name := range slices.Sorted(maps.Keys(s.Counts)) {
		counts = append(counts, fmt.Sprintf("%d %s", s.Counts[name], name))
	}
	fmt.Fprintf(&out, "met: %s\n", strings.Join(counts, ", "))
	if !s.Seeded {
		fmt.Fprintln(&out, "the schedule was not the seed's: a run cannot be repeated")
	}
	fmt.Fprintf(&out, "%s: %d runs, %.2f simulated hours in %v, %.0f times as fast as real time, %.0f times per CPU\n",
		s.Verdict, len(s.Runs), s.Simulated.Hours(), s.Took.Round(time.Second), ratio(s.Simulated, s.Took), ratio(s.Simulated, s.CPU))
	return out.String()
}
