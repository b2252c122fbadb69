package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/jepsen"
	"dormouse/jepsen/workload/catalog"
)

// runFlags are the flags of one run.
type runFlags struct {
	workloads, nemeses  string
	time                time.Duration
	seed                uint64
	nodes, processes    int
	dir, binary         string
	previous, timing    string
	settings            map[string]string
	network             string
	bug                 string
	endpoints           string
	hookFault, hookHeal string
}

// nodesMax is the largest cluster that the harness starts.
const nodesMax = 7

// The networks.
const (
	networkAuto     = "auto"
	networkLoopback = "loopback"
)

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "run", Short: "Run workloads under faults, and judge the results", Args: cli.Exactly(),
		Long: "run starts a cluster and runs workloads while the faults of a plan come and go. It heals all faults, makes the final reads, and judges the history.\n" +
			"The plan is drawn from the seed before the run. Faults that this machine cannot inject are left out and listed in the report.\n\n" + exitTable,
		Example: `  dormjepsen run --workload register,append --nemesis kill,partition --time 60s
  dormjepsen run --workload all --endpoints 10.0.0.1:7601,10.0.0.2:7601
  dormjepsen run --endpoints 10.0.0.1:7601 --hook-fault 'ssh 10.0.0.1 systemctl kill -s KILL dormoused' --hook-heal 'ssh 10.0.0.1 systemctl start dormoused'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := f.options(cmd)
			if err != nil {
				return err
			}
			p := newProgress(a.stderr, a.terminal)
			run, err := a.play(cmd.Context(), options, p)
			p.end()
			if err != nil {
				return err
			}
			if err := a.show(run); err != nil {
				return err
			}
			return verdict(run.Verdict, cmd.Context().Err() != nil)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.workloads, "workload", everything, "workloads to run in parallel, comma-separated, or all")
	flags.StringVar(&f.nemeses, "nemesis", "none", "faults to inject, comma-separated, or all; group/variant for one variant, such as kill/leader")
	flags.DurationVar(&f.time, "time", 60*time.Second, "length of the phase with calls and faults")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the plan and of all random choices (default: random)")
	flags.IntVar(&f.nodes, "nodes", 3, "size of the cluster, 1 to 7")
	flags.IntVar(&f.processes, "processes", 0, "processes of each workload (0 means the default)")
	flags.StringVar(&f.dir, "dir", "", "new directory for the run's files (default "+runsDir+"/TIME-run)")
	flags.StringVar(&f.binary, "binary", "", "path of dormoused (default: built from this checkout)")
	flags.StringVar(&f.previous, "previous", "", "path of an older dormoused: every other node starts with it, and the nemesis mixed changes them")
	flags.StringVar(&f.timing, "timing", "", "cluster.timing of all nodes: lan or wan (default: drawn from the seed)")
	flags.StringToStringVar(&f.settings, "set", nil, "setting of all nodes, such as raft.leader_write=first; may be repeated")
	flags.StringVar(&f.network, "network", networkAuto, "auto: network namespaces if the machine allows them; loopback: fewer faults, no root")
	flags.StringVar(&f.bug, "bug", "", "seeded bug to enable (see selftest)")
	flags.StringVar(&f.endpoints, "endpoints", "", "gRPC addresses of an existing cluster, comma-separated; run then starts no cluster")
	flags.StringVar(&f.hookFault, "hook-fault", "", "with --endpoints: shell command that injects a fault")
	flags.StringVar(&f.hookHeal, "hook-heal", "", "with --endpoints: shell command that heals the fault")
	return cmd
}

// options checks the flags and fills in the defaults.
func (f *runFlags) options(cmd *cobra.Command) (jepsen.Options, error) {
	o := jepsen.Options{
		Time: f.time, Seed: f.seed, Nodes: f.nodes, Processes: f.processes, Dir: f.dir, Binary: f.binary, Previous: f.previous, Bug: f.bug, Timing: f.timing, Settings: f.settings,
		Loopback: f.network == networkLoopback,
	}
	var err error
	if o.Workloads, err = workloads(f.workloads); err != nil {
		return o, err
	}
	if o.Nemeses, err = nemeses(f.nemeses); err != nil {
		return o, err
	}
	switch {
	case f.time <= 0:
		return o, cli.Usagef("--time is %v: use a positive duration, such as 60s", f.time)
	case f.nodes < 1 || f.nodes > nodesMax:
		return o, cli.Usagef("--nodes is %d: use 1 to %d", f.nodes, nodesMax)
	case f.processes < 0:
		return o, cli.Usagef("--processes is %d: use a positive number", f.processes)
	case f.network != networkAuto && f.network != networkLoopback:
		return o, cli.Usagef("--network is %q: use %s or %s", f.network, networkAuto, networkLoopback)
	}
	if o.Target, err = f.target(cmd); err != nil {
		return o, err
	}
	if o.Target != nil && f.workloads == everything {
		o.Workloads = catalog.Portable(o.Workloads)
	}
	if !cmd.Flags().Changed("seed") {
		o.Seed = rand.Uint64N(1 << 32) // few digits, which are easy to copy by hand
	}
	if o.Dir == "" {
		o.Dir = freshDir(fmt.Sprintf("run-%d", o.Seed), time.Now())
	}
	return o, nil
}

// target returns the existing cluster, or nil if none is given.
func (f *runFlags) target(cmd *cobra.Command) (*jepsen.Target, error) {
	if f.endpoints == "" {
		if f.hookFault != "" || f.hookHeal != "" {
			return nil, cli.Usagef("--hook-fault and --hook-heal need an existing cluster: give its --endpoints")
		}
		return nil, nil
	}
	for _, own := range []string{"binary", "previous", "timing", "set", "network", "bug"} {
		if cmd.Flags().Changed(own) {
			return nil, cli.Usagef("--%s is not possible with --endpoints: leave out one of them", own)
		}
	}
	if cmd.Flags().Changed("nemesis") && f.nemeses != "none" {
		return nil, cli.Usagef("--nemesis is not possible with --endpoints: use --hook-fault and --hook-heal instead")
	}
	if (f.hookFault == "") != (f.hookHeal == "") {
		return nil, cli.Usagef("--hook-fault and --hook-heal go together: give both")
	}
	t := &jepsen.Target{HookFault: f.hookFault, HookHeal: f.hookHeal}
	for addr := range strings.SplitSeq(f.endpoints, ",") {
		if addr = strings.TrimSpace(addr); addr != "" {
			t.Endpoints = append(t.Endpoints, addr)
		}
	}
	if t.Endpoints == nil {
		return nil, cli.Usagef("--endpoints names no address: give the gRPC address of a node, such as 127.0.0.1:7601")
	}
	return t, nil
}
