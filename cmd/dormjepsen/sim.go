package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/jepsen/check"
	"dormouse/jepsen/sim"
)

// simFlags are the flags of simulated runs.
type simFlags struct {
	order              sim.Order
	workloads, nemeses string
	skip               string
	kept, keep         string // directories
	runs, repeat       int
	unseeded, asItIs   bool
}

func (a *app) simCommand() *cobra.Command {
	var f simFlags
	cmd := &cobra.Command{
		Use: "sim", Short: "Run workloads on a simulated cluster in virtual time, and judge the results", Args: cli.Exactly(),
		Long: "sim runs a whole cluster in one process, in virtual time, over a simulated network and simulated disks. The seed draws the calls, the faults, the settings and\n" +
			"the schedule: the same seed gives the same run, with the same hash over all that happened. Seeds that follow the first one are used if there are several runs.\n" +
			"A run that fails is made again with fewer faults, fewer calls and less time, as long as it still fails.\n\n" +
			"sim builds itself with an overlay over the local Go tree at the first use, which takes minutes. Where that is not possible, the schedule is not the seed's, and sim says so.\n\n" + exitTable,
		Example: `  dormjepsen sim --seed 7 --time 10m
  dormjepsen sim --runs 200 --time 10m --workload register,append,claim
  dormjepsen sim --seed 7 --repeat 20`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.resolve(cmd); err != nil {
				return err
			}
			return a.simulate(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&f.order.Seed, "seed", 0, "seed of everything (default: random)")
	flags.DurationVar(&f.order.Time, "time", time.Minute, "virtual length of the phase with calls and faults")
	flags.StringVar(&f.workloads, "workload", "register,append", "workloads to run in parallel, comma-separated, or all")
	flags.StringVar(&f.nemeses, "nemesis", "all", "faults to inject, comma-separated: none, all, "+strings.Join(sim.Nemeses(), ", ")+"; group/variant for one variant")
	flags.IntVar(&f.order.Nodes, "nodes", 3, "size of the cluster, 1 to 7")
	flags.IntVar(&f.order.Processes, "processes", 0, "processes of each workload (0 means the default)")
	flags.DurationVar(&f.order.Pace, "pace", 0, "mean wait between two calls of a process (0 means the default)")
	flags.StringVar(&f.skip, "skip", "", "numbers of faults of the plan to leave out, comma-separated")
	flags.IntVar(&f.runs, "runs", runsDefault, "number of runs, each with the next seed")
	flags.IntVar(&f.repeat, "repeat", 1, "number of times that each run is made; the hashes must be equal")
	flags.Int64Var(&f.order.Memory, "memory", 0, "MiB of memory at which a run ends (0 means 4096)")
	flags.StringVar(&f.order.Bug, "bug", "", "seeded bug to enable (see selftest)")
	flags.StringVar(&f.order.Trace, "trace", "", "file for a line for each thing that happened")
	flags.StringVar(&f.order.Log, "log", "", "file for the nodes' logs")
	flags.StringVar(&f.order.History, "history", "", "file for the history")
	flags.StringVar(&f.order.Profile, "profile", "", "file for a profile of the CPU")
	flags.BoolVar(&f.unseeded, "unseeded", false, "run without the overlay")
	flags.BoolVar(&f.asItIs, "as-it-is", false, "do not look for a smaller run that fails")
	flags.StringVar(&f.keep, "keep", "", "directory for the orders of runs that fail, such as "+sim.KeptDir)
	flags.StringVar(&f.kept, "kept", "", "make the runs that this directory keeps, and those of --runs only if it is given; one with a seeded bug must fail, and hold without the bug")
	return cmd
}

// runsDefault is how many runs are made unless --runs or --kept is given.
const runsDefault = 1

// resolve checks the flags and fills in the defaults.
func (f *simFlags) resolve(cmd *cobra.Command) error {
	f.order.Workloads = strings.Split(f.workloads, ",")
	if f.workloads == everything {
		f.order.Workloads = sim.Workloads()
	}
	f.order.Nemeses = strings.Split(f.nemeses, ",")
	if f.nemeses == everything {
		f.order.Nemeses = sim.Nemeses()
	}
	for text := range strings.SplitSeq(f.skip, ",") {
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return cli.Usagef("--skip has %q: use numbers of faults, such as 10003,20001", text)
		}
		f.order.Skip = append(f.order.Skip, n)
	}
	if f.runs < 1 || f.repeat < 1 {
		return cli.Usagef("--runs and --repeat must be at least 1")
	}
	if f.kept != "" && !cmd.Flags().Changed("runs") {
		f.runs = 0
	}
	if err := f.order.Check(); err != nil {
		return cli.Usagef("%w", err)
	}
	if !cmd.Flags().Changed("seed") {
		f.order.Seed = rand.Uint64N(1 << 32) // few digits, which are easy to copy by hand
	}
	return nil
}

// simDocument is the result of simulated runs in JSON.
type simDocument struct {
	Verdict   check.Verdict    `json:"verdict"`
	Seeded    bool             `json:"seeded"`
	Runs      []sim.Document   `json:"runs"`
	Simulated time.Duration    `json:"simulated"`
	Took      time.Duration    `json:"took"`
	CPU       time.Duration    `json:"cpu"`
	Counts    map[string]int64 `json:"counts"`
	Different []uint64         `json:"different,omitempty"` // seeds that gave several hashes
	Found     []string         `json:"found,omitempty"`     // seeded bugs that kept runs found
	Missed    []string         `json:"missed,omitempty"`    // seeded bugs that kept runs did not find
}

// orders returns the runs to make; of several for one seeded bug those up to the first that finds it.
func (f simFlags) orders() ([][]sim.Order, error) {
	var all [][]sim.Order
	if f.kept != "" {
		kept, err := sim.ReadKept(f.kept)
		if err != nil {
			return nil, err
		}
		for _, k := range kept {
			all = append(all, k.Orders()...)
		}
	}
	for i := range f.runs {
		order := f.order
		order.Seed += uint64(i)
		all = append(all, []sim.Order{order})
	}
	return all, nil
}

// simulate makes the runs.
func (a *app) simulate(ctx context.Context, f simFlags) error {
	orders, err := f.orders()
	if err != nil {
		return err
	}
	bugs := slices.ContainsFunc(orders, func(tries []sim.Order) bool { return tries[0].Bug != "" })
	program, err := a.simulator(ctx, f, bugs)
	if err != nil {
		return err
	}
	all := simDocument{Verdict: check.OK, Seeded: program.Seeded, Counts: map[string]int64{}}
	for _, tries := range orders {
		for i, order := range tries {
			found, err := a.repeat(ctx, program, f, order, &all, i == len(tries)-1)
			if ctx.Err() != nil {
				return verdict(all.Verdict, true)
			}
			if err != nil {
				return err
			}
			if found {
				break
			}
		}
	}
	if len(all.Different) > 0 && all.Seeded {
		all.Verdict = check.Violation
	}
	if err := a.print(all, all.table()); err != nil {
		return err
	}
	return verdict(all.Verdict, false)
}

// repeat makes a run as often as the flags say. found reports that a kept run found its seeded bug; last says that no
// other seed is left for it.
func (a *app) repeat(ctx context.Context, program sim.Program, f simFlags, order sim.Order, all *simDocument, last bool) (found bool, err error) {
	first := ""
	for again := range f.repeat {
		d, err := program.Run(ctx, order, nil)
		if err != nil {
			return false, err
		}
		a.tell("%s", simLine(d))
		if again == 0 {
			first = d.Hash
		} else if d.Hash != first && !slices.Contains(all.Different, order.Seed) {
			all.Different = append(all.Different, order.Seed)
		}
		if f.kept != "" && order.Bug != "" {
			found = all.addBug(d, last && again == f.repeat-1)
			continue
		}
		if len(d.Failed()) > 0 && f.repeat == 1 {
			if d, err = a.failed(ctx, program, d, f); err != nil {
				return false, err
			}
		}
		all.add(d)
	}
	return found, nil
}

// failed looks for a smaller run that fails, and keeps it.
func (a *app) failed(ctx context.Context, program sim.Program, d sim.Document, f simFlags) (sim.Document, error) {
	if !f.asItIs {
		a.tell("it failed: looking for a smaller run")
		small, err := program.Shrink(ctx, d, func(line string) { a.tell("%s", line) })
		if err != nil {
			return d, err
		}
		d = small
	}
	if f.keep == "" {
		return d, nil
	}
	path, err := sim.Keep(f.keep, d)
	if err == nil {
		a.tell("kept in %s", path)
	}
	return d, err
}

// simulator builds the program, or takes this one.
func (a *app) simulator(ctx context.Context, f simFlags, bugs bool) (sim.Program, error) {
	if f.unseeded {
		return sim.Itself(fmt.Errorf("--unseeded was given"))
	}
	program, err := sim.Build(ctx, bugs)
	if err == nil || ctx.Err() != nil || bugs {
		return program, err
	}
	a.tell("dormjepsen: the schedule is not the seed's: %v", err)
	return sim.Itself(err)
}

// add adds a run.
func (s *simDocument) add(d sim.Document) {
	s.Runs = append(s.Runs, d)
	s.Verdict = check.Worse(s.Verdict, d.Verdict)
	s.spend(d)
}

// addBug adds a kept run with a seeded bug, and reports whether it failed. One of the runs for a bug must; last says
// that this is the last one.
func (s *simDocument) addBug(d sim.Document, last bool) (found bool) {
	found = len(d.Failed()) > 0
	if found {
		s.Found = append(s.Found, d.Order.Bug)
	} else if last {
		s.Missed, s.Verdict = append(s.Missed, d.Order.Bug), check.Violation
	}
	s.spend(d)
	return found
}

// spend adds what a run took and met.
func (s *simDocument) spend(d sim.Document) {
	s.Simulated += d.Simulated
	s.Took += d.Took
	s.CPU += d.CPU
	for name, n := range d.Counts {
		s.Counts[name] += n
	}
}
