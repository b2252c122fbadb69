package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/check"
)

// Order is what a program is asked to run, in JSON.
type Order struct {
	Seed      uint64        `json:"seed"`
	Time      time.Duration `json:"time,omitempty"`
	Workloads []string      `json:"workloads,omitempty"`
	Nemeses   []string      `json:"nemeses,omitempty"`
	Nodes     int           `json:"nodes,omitempty"`
	Processes int           `json:"processes,omitempty"`
	Pace      time.Duration `json:"pace,omitempty"`
	Skip      []int         `json:"skip,omitempty"`
	Memory    int64         `json:"memory,omitempty"` // MiB of memory at which the run ends; 0 means 4,096
	Bug       string        `json:"bug,omitempty"`    // a seeded bug; needs a program that has them
	Trace     string        `json:"trace,omitempty"`  // file for a line for each note of the trace
	Log       string        `json:"log,omitempty"`    // file for the nodes' logs
	History   string        `json:"history,omitempty"`
	Profile   string        `json:"profile,omitempty"` // file for a profile of the CPU
}

// Document is the result of a run, in JSON.
type Document struct {
	Order     Order            `json:"order"`
	Hash      string           `json:"hash"` // over all that happened
	Notes     uint64           `json:"notes"`
	Seeded    bool             `json:"seeded"`
	Verdict   check.Verdict    `json:"verdict"`
	Simulated time.Duration    `json:"simulated"`
	Took      time.Duration    `json:"took"`    // real time of the simulation
	CPU       time.Duration    `json:"cpu"`     // of the process, judging included
	Memory    int64            `json:"memory"`  // bytes: the most that the process had
	Judging   time.Duration    `json:"judging"` // real time
	Calls     int              `json:"calls"`   // judged ones
	Steps     []Step           `json:"steps"`
	Counts    map[string]int64 `json:"counts"`
	Results   []check.Result   `json:"results"`
	Broken    string           `json:"broken,omitempty"` // why there is no verdict
}

// Failed returns the names of the checks that found a violation. A run that stopped
// before the end counts as one of "run".
func (d Document) Failed() []string {
	var failed []string
	if d.Broken != "" {
		return []string{"run"}
	}
	for _, r := range d.Results {
		if r.Verdict == check.Violation {
			failed = append(failed, r.Check)
		}
	}
	return failed
}

// Command returns the command line that repeats a run.
func (o Order) Command() string {
	args := []string{"dormjepsen sim", fmt.Sprintf("--seed %d", o.Seed)}
	add := func(flag, value string) {
		if value != "" && value != "0" && value != "0s" {
			args = append(args, "--"+flag+" "+value)
		}
	}
	add("time", o.Time.String())
	add("workload", strings.Join(o.Workloads, ","))
	if len(o.Nemeses) > 0 {
		args = append(args, fmt.Sprintf("--nemesis %q", strings.Join(o.Nemeses, ",")))
	}
	add("nodes", fmt.Sprint(o.Nodes))
	add("processes", fmt.Sprint(o.Processes))
	add("pace", o.Pace.String())
	var skip []string
	for _, n := range o.Skip {
		skip = append(skip, fmt.Sprint(n))
	}
	add("skip", strings.Join(skip, ","))
	add("memory", fmt.Sprint(o.Memory))
	add("bug", o.Bug)
	return strings.Join(args, " ")
}

// Check returns the error of an order that cannot be run, with all that is wrong.
func (o Order) Check() error {
	_, err := o.options().Resolve()
	if o.Memory < 0 {
		err = errors.Join(err, errors.New("memory cannot be negative"))
	}
	return err
}

// options returns the options of an order.
func (o Order) options() Options {
	return Options{
		Seed: o.Seed, Time: o.Time, Workloads: slices.Clone(o.Workloads), Nemeses: slices.Clone(o.Nemeses),
		Nodes: o.Nodes, Processes: o.Processes, Pace: o.Pace, Skip: slices.Clone(o.Skip),
	}
}
