package seeded

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dormouse/internal/seededbug"
)

// Trial is a seeded bug, and the run that finds it.
type Trial struct {
	Bug       seededbug.Bug
	Workloads []string
	Nemeses   []string // empty means none
	Nodes     int      // 0 means 3
	Processes int      // of each workload; 0 leaves it to the harness
	Time      time.Duration
	Seed      uint64
	Check     string // which is expected to find it; others may too
	Client    bool   // it is the client's, so the harness must be built with it
	Quick     bool   // one of the few that are looked for with every change
}

// Trials are those with these names, in the table's order; no names are all.
// Names that there are not are an error which lists those that there are.
func Trials(names ...string) ([]Trial, error) {
	for _, name := range names {
		if !slices.ContainsFunc(trials, func(s Trial) bool { return string(s.Bug) == name }) {
			return nil, fmt.Errorf("there is no seeded bug %q; there are %s", name, strings.Join(Names(), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(trials), func(s Trial) bool {
		return len(names) > 0 && !slices.Contains(names, string(s.Bug))
	}), nil
}

// Quick are the trials that are looked for with every change.
func Quick() []Trial {
	return slices.DeleteFunc(slices.Clone(trials), func(s Trial) bool { return !s.Quick })
}

// Names returns the names of all bugs that have a trial, in the table's order.
func Names() []string {
	var names []string
	for _, s := range trials {
		names = append(names, string(s.Bug))
	}
	return names
}

// Sound is the run that a build without a bug must pass with every change.
var Sound = Trial{Workloads: []string{"turn"}, Nemeses: []string{"kill", "partition"}, Time: 25 * time.Second, Seed: 1}

// sound is the run that a build without a bug must pass.
func (s Trial) sound() Trial {
	s.Bug, s.Check = "", ""
	return s
}

// clocks reports whether any of the faults is one of clocks.
func (s Trial) clocks() bool {
	return slices.ContainsFunc(s.Nemeses, func(name string) bool {
		group, _, _ := strings.Cut(name, "/")
		return group == "clock"
	})
}
