package zoo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dormouse/internal/planted"
)

// Specimen is a planted bug, and the run that finds it.
type Specimen struct {
	Bug       planted.Bug
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

// Specimens are those with these names, in the table's order; no names are all.
// Names that there are not are an error which lists those that there are.
func Specimens(names ...string) ([]Specimen, error) {
	for _, name := range names {
		if !slices.ContainsFunc(specimens, func(s Specimen) bool { return string(s.Bug) == name }) {
			return nil, fmt.Errorf("there is no bug %q in the zoo; there are %s", name, strings.Join(Names(), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(specimens), func(s Specimen) bool {
		return len(names) > 0 && !slices.Contains(names, string(s.Bug))
	}), nil
}

// Quick are the specimens that are looked for with every change.
func Quick() []Specimen {
	return slices.DeleteFunc(slices.Clone(specimens), func(s Specimen) bool { return !s.Quick })
}

// Names are the names of all bugs in the zoo, in the table's order.
func Names() []string {
	var names []string
	for _, s := range specimens {
		names = append(names, string(s.Bug))
	}
	return names
}

// Sound is the run that a build without a bug must pass with every change.
var Sound = Specimen{Workloads: []string{"turn"}, Nemeses: []string{"kill", "partition"}, Time: 25 * time.Second, Seed: 1}

// sound is the run that a build without a bug must pass.
func (s Specimen) sound() Specimen {
	s.Bug, s.Check = "", ""
	return s
}

// clocks tells whether any of the faults is one of clocks.
func (s Specimen) clocks() bool {
	return slices.ContainsFunc(s.Nemeses, func(name string) bool {
		group, _, _ := strings.Cut(name, "/")
		return group == "clock"
	})
}
