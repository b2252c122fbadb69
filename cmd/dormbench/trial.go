package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"dormouse/bench/load"
	"dormouse/bench/report"
	"dormouse/bench/system"
	"dormouse/internal/cli"
)

// trials are the measurements besides the workloads.
var trials = []struct {
	name, what string
	run        func(*stage, context.Context) ([]report.Trial, error)
}{
	{report.TrialFailover, "kill -9 of the leader under load: time without acknowledged writes", (*stage).failover},
	{report.TrialSilent, "the leader falls silent under load, its connections open (SIGSTOP): time without acknowledged writes", (*stage).failoverSilent},
	{report.TrialGrowth, "put, append and get with many agents compared with 10,000", (*stage).growth},
	{report.TrialMemory, "the memory of a node with many agents that may use 512 MiB", (*stage).memory},
	{report.TrialWritten, "what a node writes to its disk for each put, compactions included", (*stage).written},
	{report.TrialThread, "append at entry 100,000 of a thread compared with entry 100", (*stage).thread},
	{report.TrialCatchUp, "a follower catches up by a snapshot after it was stopped, and after it lost its data", (*stage).catchUp},
	{report.TrialNoisy, "p99 of a quiet scope alone, and beside a scope that 256 callers flood", (*stage).noisy},
	{report.TrialRedis, "redis-benchmark against the server for clients of Redis, compared with one Redis server", (*stage).redisProtocol},
	{report.TrialCold, "a killed node restarts with much data and a cold page cache", (*stage).coldStart},
}

// trialNames returns the selected trials, with "all" and "none" resolved.
func trialNames(given []string) ([]string, error) {
	var all []string
	for _, t := range trials {
		all = append(all, t.name)
	}
	switch {
	case slices.Equal(given, []string{everything}):
		return all, nil
	case slices.Equal(given, []string{nothing}):
		return nil, nil
	}
	for _, name := range given {
		if !slices.Contains(all, name) {
			return nil, cli.Usagef("unknown trial %q: use %s, %s or %s", name, strings.Join(all, ", "), everything, nothing)
		}
	}
	return given, nil
}

// sizeFlags are the flags for the sizes of the trials.
type sizeFlags struct {
	agents         int
	nodeMemory     string
	growthFor      time.Duration
	coldMiB        int
	catchUpMiB     int
	catchUpEntries int
	threadRevs     int
	failoverFor    time.Duration
	writtenFor     time.Duration
}

func (s *sizeFlags) define(cmd *cobra.Command) {
	cmd.Flags().IntVar(&s.agents, "agents", 1_000_000, "growth and memory: number of agents")
	cmd.Flags().StringVar(&s.nodeMemory, "node-memory", "4GiB", "growth: memory that each node may use")
	cmd.Flags().DurationVar(&s.growthFor, "growth-for", time.Minute, "growth and memory: length of each measurement; long enough that its writes are compacted")
	cmd.Flags().DurationVar(&s.writtenFor, "written-for", time.Minute, "written: time of the puts")
	cmd.Flags().IntVar(&s.coldMiB, "cold-mib", 10<<10, "cold-start: MiB of data on the node's disk")
	cmd.Flags().IntVar(&s.catchUpMiB, "catch-up-mib", 1<<10, "catch-up: MiB written while the follower is stopped (0 skips this part)")
	cmd.Flags().IntVar(&s.catchUpEntries, "catch-up-entries", 1_000_000, "catch-up: entries of the log when the follower loses its data (0 skips this part)")
	cmd.Flags().IntVar(&s.threadRevs, "thread-entries", 100_000, "thread: entries of the long thread")
	cmd.Flags().DurationVar(&s.failoverFor, "failover-for", 15*time.Second, "failover and failover-silent: how long to observe after the leader was lost")
}

func (s *sizeFlags) check() error {
	if s.catchUpMiB < 0 || s.catchUpEntries < 0 || s.catchUpMiB+s.catchUpEntries == 0 {
		return cli.Usagef("--catch-up-mib and --catch-up-entries may not be negative, nor both 0")
	}
	if s.agents < agentsFew || s.coldMiB < 1 || s.threadRevs < entriesFew || s.failoverFor <= 0 || s.growthFor <= 0 || s.writtenFor <= 0 {
		return cli.Usagef("--agents must be at least %d, --thread-entries %d, and the other sizes positive", agentsFew, entriesFew)
	}
	return nil
}

func (a *app) trialCommand() *cobra.Command {
	st := &stage{systems: []string{system.Dormouse, system.Etcd}}
	cmd := &cobra.Command{
		Use: "trial NAME", Short: "Run one trial once: failover, failover-silent, growth, memory, written, thread, catch-up, noisy-neighbour, redis-protocol or cold-start", Args: cli.Exactly("NAME"),
		Example: "  dormbench trial failover\n  dormbench trial cold-start --cold-mib 10240\n  dormbench trial catch-up --catch-up-mib 0 --catch-up-entries 100000",
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := trialNames(args); err != nil {
				return err
			}
			if st.duration <= 0 || st.warmup < 0 {
				return cli.Usagef("--duration must be positive, and --warmup may not be negative")
			}
			if err := st.size.check(); err != nil {
				return err
			}
			found, err := a.try(cmd.Context(), args[0], st)
			if err != nil {
				return err
			}
			return a.print(found, report.Tried(&report.Document{Trials: found}).Text())
		},
	}
	cmd.Flags().DurationVar(&st.duration, "duration", 5*time.Second, "length of each measurement")
	cmd.Flags().DurationVar(&st.warmup, "warmup", 2*time.Second, "time before each measurement that is not measured")
	st.size.define(cmd)
	st.home.define(cmd)
	return cmd
}

// stage is the environment of a trial.
type stage struct {
	a                *app
	systems          []string
	duration, warmup time.Duration
	size             sizeFlags
	home             homeFlags
}

// try runs a trial once.
func (a *app) try(ctx context.Context, name string, st *stage) ([]report.Trial, error) {
	st.a = a
	for _, t := range trials {
		if t.name != name {
			continue
		}
		found, err := t.run(st, ctx)
		if err != nil {
			return nil, fmt.Errorf("trial %s: %w", name, err)
		}
		for i := range found {
			found[i].Round = 1
		}
		return found, nil
	}
	return nil, cli.Usagef("unknown trial %q", name)
}

// with starts a system, calls do, and ends the system.
func (st *stage) with(ctx context.Context, name string, nodes int, do func(*system.System, load.Driver) error) (err error) {
	return st.withOptions(ctx, name, system.Options{Nodes: nodes}, do)
}

// withOptions is with for a system with options, of which it sets the directories.
func (st *stage) withOptions(ctx context.Context, name string, o system.Options, do func(*system.System, load.Driver) error) (err error) {
	dir, err := st.home.fresh()
	if err != nil {
		return err
	}
	o.Dir, o.Bin = dir, st.home.bin
	s, err := system.Start(ctx, name, o)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	d, err := open(ctx, name, accessTo(s), 0, load.CallersMax)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return do(s, d)
}

// fill writes a population and shows the progress.
func (st *stage) fill(ctx context.Context, d load.Driver, f load.Fill) error {
	bar := st.a.newCount("writing agents", f.Agents, "agents")
	defer bar.end()
	f.Progress = bar.add
	return f.Write(ctx, d)
}

// rate measures a workload on existing agents.
func (st *stage) rate(ctx context.Context, s *system.System, workload, prefix string, agents, callers int, duration time.Duration) (report.Cell, error) {
	w, _ := load.ByName(workload)
	f := &runFlags{
		system: s.Name, workload: workload, callers: callers, duration: duration, warmup: st.warmup,
		access: accessTo(s), pids: s.PIDs(), agents: agents, prefix: prefix, stored: true,
	}
	bar := st.a.newProgress("measuring "+workload, f.warmup+f.duration)
	defer bar.end()
	return measure(ctx, f, w, &profiler{}, bar)
}

// roomFor returns an error if the disk has less than the given MiB free.
func (st *stage) roomFor(mib int) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(st.home.dir, &fs); err != nil {
		return fmt.Errorf("read the free space of %s: %w", st.home.dir, err)
	}
	if free := int64(fs.Bavail) * fs.Bsize >> 20; free < int64(mib) {
		return fmt.Errorf("%s has %d MiB free, but the trial needs %d: use another --dir, or a smaller size", st.home.dir, free, mib)
	}
	return nil
}
