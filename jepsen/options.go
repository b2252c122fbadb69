package jepsen

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/workload/catalog"
)

// Options are what a run may be told; the zero value of each is its default.
type Options struct {
	Workloads []string          // by name, side by side; empty means all
	Nemeses   []string          // by name, side by side; empty means none
	Time      time.Duration     // of calls and faults; 0 means 60 s
	Seed      uint64            // of the plan and of every process
	Nodes     int               // 1 to 7; 0 means 3. Of a Target: as many as it has addresses
	Dir       string            // of the run's files; made, and must not hold a run yet
	Binary    string            // dormoused; "" builds it
	Program   []string          // the command of programs that take part as hosts; nil means this one's own, as dormjepsen has it
	Processes int               // of each workload; 0 means 12
	Loopback  bool              // no network of its own, even where there could be one: fewer faults
	Bug       string            // the seeded bug to run with; a Binary that is named must be built with -tags seeded
	Target    *Target           // a cluster that somebody else started, in place of one of its own; nil means not
	Progress  func(line string) // told what goes on, from any goroutine; nil means nobody
}

const (
	timeDefault      = 60 * time.Second
	nodesDefault     = 3
	nodesMax         = 7
	processesDefault = 12
)

// resolve fills in the defaults, and says everything that is wrong.
func (o Options) resolve() (Options, error) {
	if len(o.Workloads) == 0 {
		o.Workloads = catalog.Names()
		if o.Target != nil {
			o.Workloads = catalog.WithoutPrograms(o.Workloads)
		}
	}
	if len(o.Nemeses) == 0 {
		o.Nemeses = []string{"none"}
	}
	if o.Time == 0 {
		o.Time = timeDefault
	}
	if o.Nodes == 0 {
		o.Nodes = nodesDefault
	}
	if o.Target != nil {
		o.Nodes = len(o.Target.Endpoints)
	}
	if o.Processes == 0 {
		o.Processes = processesDefault
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	var wrong []error
	for _, name := range o.Workloads {
		_, err := catalog.New(name)
		wrong = append(wrong, err)
	}
	for _, name := range o.Nemeses {
		_, err := nemesis.About(name)
		wrong = append(wrong, err)
	}
	if o.Target == nil && (o.Nodes < 1 || o.Nodes > nodesMax) {
		wrong = append(wrong, fmt.Errorf("a cluster of %d nodes: give 1 to %d", o.Nodes, nodesMax))
	}
	if o.Time < 0 || o.Processes < 0 {
		wrong = append(wrong, errors.New("time and processes cannot be negative"))
	}
	if o.Target != nil && catalog.NeedsPrograms(o.Workloads) {
		wrong = append(wrong, errors.New("workload host is for a cluster of our own, beside which programs are started: leave it out"))
	}
	if o.Dir == "" {
		wrong = append(wrong, errors.New("name a directory for the run's files"))
	}
	return o, errors.Join(wrong...)
}

// command repeats the run.
func (o Options) command() string {
	args := []string{
		"dormjepsen run", "--workload", strings.Join(o.Workloads, ","), "--nemesis", strings.Join(o.Nemeses, ","),
		"--time", o.Time.String(), "--seed", fmt.Sprint(o.Seed), "--nodes", fmt.Sprint(o.Nodes), "--processes", fmt.Sprint(o.Processes),
	}
	if o.Loopback {
		args = append(args, "--network", "loopback")
	}
	if o.Bug != "" {
		args = append(args, "--bug", o.Bug)
	}
	if o.Target != nil {
		args = append(args, o.Target.flags()...)
	}
	return strings.Join(args, " ")
}
