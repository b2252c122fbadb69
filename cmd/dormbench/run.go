package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dormouse/bench/load"
	"dormouse/bench/report"
	"dormouse/bench/system"
	"dormouse/internal/cli"
)

// runFlags are the flags of one run.
type runFlags struct {
	system, workload string
	callers          int
	duration, warmup time.Duration
	access           access
	pids             []int
	agents           int
	prefix           string
	stored           bool
	connections      int
	cpuProfile       string
	serverProfiles   string
	home             homeFlags
}

// homeFlags are the directories of the binaries and of the data.
type homeFlags struct{ bin, dir string }

func (h *homeFlags) define(cmd *cobra.Command) {
	cmd.Flags().StringVar(&h.bin, "bin", "bin", "directory of dormoused and dormbench-etcd")
	cmd.Flags().StringVar(&h.dir, "dir", os.TempDir(), "directory for the systems' data, which is removed at the end; the benchmark measures its disk")
}

// fresh returns an empty directory for a system's data that other users can access.
func (h *homeFlags) fresh() (string, error) {
	dir, err := os.MkdirTemp(h.dir, "dormbench-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		return "", fmt.Errorf("make a directory for the data: %w", err)
	}
	return dir, nil
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "run", Short: "Run one workload on one system", Args: cli.Exactly(),
		Long: `run makes the calls of one workload with several callers. Each caller makes its
next call when the last one is answered. Measurement starts after a warm-up. Without
--endpoints run starts the system itself, with empty data, and ends it again.

Workloads:
` + workloadList(),
		Example: `  dormbench run --system dormouse --workload put-1k --callers 256
  dormbench run --system dormouse --workload put-1k --callers 256 --cpuprofile load.pprof --server-profiles profiles
  dormbench run --system etcd --workload turn --endpoints 127.0.0.1:2379 --pids 4711`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			workload, err := f.check()
			if err != nil {
				return err
			}
			return a.runOne(cmd.Context(), &f, workload)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.system, "system", system.Dormouse, strings.Join(system.Names(), ", "))
	flags.StringVar(&f.workload, "workload", "put-1k", "workload to run")
	flags.IntVar(&f.callers, "callers", 64, "number of concurrent callers, 1 to 1024")
	flags.DurationVar(&f.duration, "duration", 10*time.Second, "length of the measurement")
	flags.DurationVar(&f.warmup, "warmup", 3*time.Second, "time before the measurement that is not measured")
	flags.StringSliceVar(&f.access.endpoints, "endpoints", nil, "addresses of a running system")
	flags.StringVar(&f.access.caFile, "ca", "", "with --endpoints: file of the authority that verifies the nodes")
	flags.StringVar(&f.access.tokenFile, "token-file", "", "with --endpoints: file of a token")
	flags.IntSliceVar(&f.pids, "pids", nil, "with --endpoints: ids of its server processes, to measure their resource use")
	flags.IntVar(&f.agents, "agents", 0, "number of agents (0 means the workload's default)")
	flags.StringVar(&f.prefix, "prefix", "", "prefix of the agents' names (default: unique to this run)")
	flags.BoolVar(&f.stored, "stored", false, "the agents of --prefix exist already: do not write them")
	flags.IntVar(&f.connections, "connections", 0, "connections to the system (0 means a suitable number)")
	flags.StringVar(&f.cpuProfile, "cpuprofile", "", "file for the generator's CPU profile during the measurement")
	flags.StringVar(&f.serverProfiles, "server-profiles", "", "directory for the CPU profile of each dormoused that run starts")
	f.home.define(cmd)
	return cmd
}

func workloadList() string {
	var b strings.Builder
	for _, w := range load.Workloads {
		fmt.Fprintf(&b, "  %-16s %s\n", w.Name, w.What)
	}
	return b.String()
}

// check returns an error if a flag is invalid.
func (f *runFlags) check() (load.Workload, error) {
	workload, ok := load.ByName(f.workload)
	switch {
	case !slices.Contains(system.Names(), f.system):
		return workload, cli.Usagef("--system is %q: use one of %s", f.system, strings.Join(system.Names(), ", "))
	case !ok:
		return workload, cli.Usagef("--workload is %q: see dormbench list", f.workload)
	case f.callers < 1 || f.callers > load.CallersMax:
		return workload, cli.Usagef("--callers is %d: use 1 to %d", f.callers, load.CallersMax)
	case f.duration <= 0 || f.warmup < 0:
		return workload, cli.Usagef("--duration must be positive, and --warmup may not be negative")
	case f.agents < 0 || f.connections < 0:
		return workload, cli.Usagef("--agents and --connections may not be negative")
	case f.stored && f.prefix == "":
		return workload, cli.Usagef("--stored needs the --prefix of the existing agents")
	case len(f.pids) > 0 && len(f.access.endpoints) == 0:
		return workload, cli.Usagef("--pids goes with --endpoints")
	case f.serverProfiles != "" && (len(f.access.endpoints) > 0 || !strings.HasPrefix(f.system, system.Dormouse)):
		return workload, cli.Usagef("--server-profiles is for a dormouse that run starts itself")
	}
	return workload, nil
}

// runOne makes the run. It starts the system if no endpoints are given.
func (a *app) runOne(ctx context.Context, f *runFlags, workload load.Workload) (err error) {
	var profile profiler
	if len(f.access.endpoints) == 0 {
		dir, err := f.home.fresh()
		if err != nil {
			return err
		}
		o := system.Options{Dir: dir, Bin: f.home.bin}
		if f.serverProfiles != "" {
			if o.Profile, err = profile.reserve(f.serverProfiles); err != nil {
				return err
			}
		}
		s, err := system.Start(ctx, f.system, o)
		if err != nil {
			return errors.Join(err, os.RemoveAll(dir))
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		f.access, f.pids = accessTo(s), s.PIDs()
	}
	profile.file, profile.time = f.cpuProfile, f.duration
	bar := a.newProgress("measuring "+f.workload+" on "+f.system, f.warmup+f.duration)
	defer bar.end()
	cell, err := measure(ctx, f, workload, &profile, bar)
	bar.end()
	if err != nil {
		return err
	}
	return a.print(cell, report.Measured(&report.Document{Cells: []report.Cell{cell}}).Text())
}

// measure makes the run on a running system.
func measure(ctx context.Context, f *runFlags, workload load.Workload, profile *profiler, bar *progress) (cell report.Cell, err error) {
	d, err := open(ctx, f.system, f.access, f.connections, f.callers)
	if err != nil {
		return cell, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if f.prefix == "" {
		f.prefix = fmt.Sprintf("%s-%x", f.workload, time.Now().UnixNano())
	}
	m := meter{pids: f.pids}
	o := load.Options{
		Workload: workload, Callers: f.callers, Warmup: f.warmup, Duration: f.duration,
		Agents: f.agents, Prefix: f.prefix, Stored: f.stored, Progress: bar.tell,
		Window: func(opens bool) {
			m.window(opens)
			profile.window(opens)
		},
	}
	result, err := load.Run(ctx, d, o)
	if err != nil {
		return cell, err
	}
	cell = report.Cell{System: f.system, Round: 1, Result: result}
	return cell, errors.Join(m.fill(&cell), profile.wait())
}

// profileName returns the file name of a node's profile.
func profileName(dir string, node int) string {
	return filepath.Join(dir, fmt.Sprintf("n%d.pprof", node+1))
}
