package jepsen

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/workload/catalog"
)

// Options are the options of a run. The zero value of each is its default.
type Options struct {
	Workloads []string          // by name, run in parallel; empty means all
	Nemeses   []string          // by name, run in parallel; empty means none
	Time      time.Duration     // of the phase with calls and faults; 0 means 60 s
	Seed      uint64            // seed of the plan and of every process
	Nodes     int               // 1 to 7; 0 means 3. With a Target: the number of its addresses
	Dir       string            // directory of the run's files; created if missing, and must not hold a run
	Binary    string            // path of dormoused; "" builds it
	Bin       string            // directory for programs that are built, which later runs may use too; "" means one of the run, without dormctl unless a nemesis needs it
	Timing    string            // cluster.timing of all nodes; "" draws it from the seed
	Settings  map[string]string // of all nodes, by the names of docs/settings.md; they win over those that the seed draws
	Previous  string            // path of an older dormoused, for the nemesis mixed; "" means none
	Program   []string          // command that starts a host program; nil means "host" of this executable, as in dormjepsen
	Processes int               // of each workload; 0 means 12
	Loopback  bool              // use the loopback network even if network namespaces are possible: fewer faults
	Bug       string            // seeded bug to enable; a given Binary must be built with -tags seeded
	Target    *Target           // cluster that the harness did not start; nil means that the harness starts one
	Progress  func(line string) // receives progress lines, from any goroutine; nil discards them
}

const (
	timeDefault      = 60 * time.Second
	nodesDefault     = 3
	nodesMax         = 7
	processesDefault = 12
)

// resolve fills in the defaults and returns all errors at once.
func (o Options) resolve() (Options, error) {
	if len(o.Workloads) == 0 {
		o.Workloads = catalog.Names()
		if o.Target != nil {
			o.Workloads = catalog.Portable(o.Workloads)
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
	if o.Timing != "" && !slices.Contains(timings, o.Timing) {
		wrong = append(wrong, fmt.Errorf("timing %q: use one of %s, or none to draw it from the seed", o.Timing, strings.Join(timings, ", ")))
	}
	if o.Time < 0 || o.Processes < 0 {
		wrong = append(wrong, errors.New("time and processes cannot be negative"))
	}
	if o.Target != nil && catalog.NeedsPrograms(o.Workloads) {
		wrong = append(wrong, errors.New("workload host needs programs, which run only beside a cluster that the harness starts: leave it out"))
	}
	if o.Target != nil && catalog.NeedsTokens(o.Workloads) {
		wrong = append(wrong, errors.New("workload tokens creates tokens, which needs a cluster that the harness starts: leave it out"))
	}
	if o.Dir == "" {
		wrong = append(wrong, errors.New("no directory is given for the run's files"))
	}
	return o, errors.Join(wrong...)
}

// command returns the command line that repeats the run.
func (o Options) command() string {
	args := []string{
		"dormjepsen run", "--workload", strings.Join(o.Workloads, ","), "--nemesis", strings.Join(o.Nemeses, ","),
		"--time", o.Time.String(), "--seed", fmt.Sprint(o.Seed), "--nodes", fmt.Sprint(o.Nodes), "--processes", fmt.Sprint(o.Processes),
	}
	if o.Timing != "" {
		args = append(args, "--timing", o.Timing)
	}
	if o.Loopback {
		args = append(args, "--network", "loopback")
	}
	if o.Bug != "" {
		args = append(args, "--bug", o.Bug)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Settings)) {
		args = append(args, "--set", name+"="+o.Settings[name])
	}
	if o.Previous != "" {
		args = append(args, "--previous", o.Previous)
	}
	if o.Target != nil {
		args = append(args, o.Target.flags()...)
	}
	return strings.Join(args, " ")
}
