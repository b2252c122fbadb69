package sim

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"dormouse/jepsen/workload/catalog"
)

// Options are the options of a simulated run. The zero value of each is its default.
type Options struct {
	Seed      uint64
	Time      time.Duration // of the phase with calls and faults, in virtual time; 0 means a minute
	Workloads []string      // by name, run in parallel; empty means register and append
	Nemeses   []string      // by name, run in parallel; empty means all
	Nodes     int           // 1 to 7; 0 means 3
	Processes int           // of each workload; 0 means 4
	Pace      time.Duration // mean wait between two calls of a process; 0 means 200 ms
	Skip      []int         // numbers of steps of the plan that are left out
	Lines     io.Writer     // receives a line for each note of the trace; in memory; nil means none
	Log       io.Writer     // receives the log of the nodes; in memory; nil discards it, without a change of the schedule
	Tell      func(string)  // receives progress; nil discards it
}

const (
	timeDefault      = time.Minute
	nodesDefault     = 3
	nodesMax         = 7
	processesDefault = 4
	paceDefault      = 200 * time.Millisecond
)

// Workloads returns the names of all workloads that can be simulated.
func Workloads() []string { return catalog.Portable(catalog.Names()) }

// Resolve fills in the defaults and returns all errors at once.
func (o Options) Resolve() (Options, error) {
	if len(o.Workloads) == 0 {
		o.Workloads = []string{"register", "append"}
	}
	if len(o.Nemeses) == 0 || slices.Contains(o.Nemeses, "all") {
		o.Nemeses = Nemeses()
	}
	if o.Time == 0 {
		o.Time = timeDefault
	}
	if o.Nodes == 0 {
		o.Nodes = nodesDefault
	}
	if o.Processes == 0 {
		o.Processes = processesDefault
	}
	if o.Pace == 0 {
		o.Pace = paceDefault
	}
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	var wrong []error
	for _, name := range o.Workloads {
		_, err := catalog.New(name)
		wrong = append(wrong, err)
	}
	if catalog.NeedsPrograms(o.Workloads) {
		wrong = append(wrong, errors.New("workload host needs programs, which a simulation does not have: leave it out"))
	}
	if catalog.NeedsTokens(o.Workloads) {
		wrong = append(wrong, errors.New("workload tokens needs nodes that ask for tokens, which a simulation does not have: leave it out"))
	}
	for _, name := range o.Nemeses {
		_, err := variantsOf(name)
		wrong = append(wrong, err)
	}
	if o.Nodes < 1 || o.Nodes > nodesMax {
		wrong = append(wrong, fmt.Errorf("a cluster of %d nodes: give 1 to %d", o.Nodes, nodesMax))
	}
	if o.Time < 0 || o.Processes < 0 || o.Pace < 0 {
		wrong = append(wrong, errors.New("time, processes and pace cannot be negative"))
	}
	return o, errors.Join(wrong...)
}
