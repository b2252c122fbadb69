package seeded

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dormouse/internal/seededbug"
	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/testbed"
)

// Trial is a seeded bug and the run that finds it.
type Trial struct {
	Bug       seededbug.Bug
	Workloads []string
	Nemeses   []string // empty means none
	Nodes     int      // 0 means 3
	Processes int      // of each workload; 0 means the harness's default
	Time      time.Duration
	Seed      uint64
	Settings  map[string]string // of all nodes; empty means the defaults
	Check     string            // the check that is expected to find it; others may find it too
	Client    bool              // the bug is in the client, so the harness must be built with the tag
	Quick     bool              // one of the few trials that run with every change
}

// Trials returns the trials with these names, in the table's order; without names it
// returns all. The error for an unknown name lists the known ones.
func Trials(names ...string) ([]Trial, error) {
	for _, name := range names {
		if !slices.ContainsFunc(trials, func(s Trial) bool { return string(s.Bug) == name }) {
			return nil, fmt.Errorf("unknown seeded bug %q: use one of %s", name, strings.Join(Names(), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(trials), func(s Trial) bool {
		return len(names) > 0 && !slices.Contains(names, string(s.Bug))
	}), nil
}

// Quick returns the trials that run with every change.
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

// sound returns the trial without its bug.
func (s Trial) sound() Trial {
	s.Bug, s.Check = "", ""
	return s
}

// builds reports whether one of the faults needs nodes of a build of its own.
func (s Trial) builds() bool {
	return slices.ContainsFunc(s.Nemeses, func(name string) bool {
		needs := nemesis.Needs(name)
		return slices.Contains(needs, testbed.CanClock) || slices.Contains(needs, testbed.CanFailpoint)
	})
}
