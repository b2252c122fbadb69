package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"dormouse/bench/load"
	"dormouse/bench/report"
	"dormouse/bench/system"
	"dormouse/internal/cli"
)

// peersFlags are the flags of peers.
type peersFlags struct {
	rounds             int
	duration, warmup   time.Duration
	systems, workloads []string
	callers            []int
	trials             []string
	connections        map[string]int // :: system → connections of the generator; 0 means the default
	results            string
	size               sizeFlags
	home               homeFlags
}

func (a *app) peersCommand() *cobra.Command {
	var f peersFlags
	cmd := &cobra.Command{
		Use: "peers", Short: "Compare the systems side by side, and check the bars (required results)", Args: cli.Exactly(),
		Long: `peers starts one system after the other with empty data and measures each
workload on it with this program's run command. It does so for several rounds,
so that changes of the machine affect all systems equally. It writes tables,
plots and all measurements to --results. Systems that are not
installed are skipped.`,
		Example: `  dormbench peers
  dormbench peers --rounds 1 --duration 3s --warmup 1s --callers 64,256 --trials none
  dormbench peers --systems dormouse,etcd --workloads put-1k,get-1k`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return a.compare(cmd.Context(), &f)
		},
	}
	var workloads []string
	for _, w := range load.Workloads {
		workloads = append(workloads, w.Name)
	}
	flags := cmd.Flags()
	flags.IntVar(&f.rounds, "rounds", 3, "number of measurements of each combination")
	flags.DurationVar(&f.duration, "duration", 5*time.Second, "length of each measurement")
	flags.DurationVar(&f.warmup, "warmup", 2*time.Second, "time before each measurement that is not measured")
	flags.StringSliceVar(&f.systems, "systems", []string{system.Dormouse, system.DormouseHTTP, system.Etcd, system.EtcdHTTP, system.Postgres, system.Redis}, "systems to compare")
	flags.StringSliceVar(&f.workloads, "workloads", workloads, "workloads to measure")
	flags.IntSliceVar(&f.callers, "callers", []int{1, 64, 256, 1024}, "numbers of callers")
	flags.StringToIntVar(&f.connections, "connections", nil, "connections to a system, such as postgres=32,etcd=16 (other systems get a suitable number)")
	flags.StringSliceVar(&f.trials, "trials", []string{everything}, "trials to run after the workloads: names, all or none")
	flags.StringVar(&f.results, "results", "bench/results", "directory for the results")
	f.size.define(cmd)
	f.home.define(cmd)
	return cmd
}

// Values that stand for several names.
const (
	everything = "all"
	nothing    = "none"
)

// check returns an error if a flag is invalid.
func (f *peersFlags) check() error {
	for _, name := range f.systems {
		if !slices.Contains(system.Names(), name) {
			return cli.Usagef("--systems has %q: use any of %s", name, strings.Join(system.Names(), ", "))
		}
	}
	for _, name := range f.workloads {
		if _, ok := load.ByName(name); !ok {
			return cli.Usagef("--workloads has %q: see dormbench list", name)
		}
	}
	for _, n := range f.callers {
		if n < 1 || n > load.CallersMax {
			return cli.Usagef("--callers has %d: use 1 to %d", n, load.CallersMax)
		}
	}
	for name, n := range f.connections {
		if !slices.Contains(f.systems, name) || n < 1 || n > load.CallersMax {
			return cli.Usagef("--connections has %s=%d: use 1 to %d, of one of --systems", name, n, load.CallersMax)
		}
	}
	if f.rounds < 1 || f.duration <= 0 || f.warmup < 0 {
		return cli.Usagef("--rounds must be at least 1 and --duration positive, and --warmup may not be negative")
	}
	var err error
	if f.trials, err = trialNames(f.trials); err != nil {
		return err
	}
	return f.size.check()
}

// comparison is a comparison in progress.
type comparison struct {
	a   *app
	f   *peersFlags
	d   *report.Document
	bar *progress
}

// compare makes the comparison. It writes the results so far if it is interrupted.
func (a *app) compare(ctx context.Context, f *peersFlags) error {
	machine, err := describe(ctx, f.home.dir)
	if err != nil {
		return err
	}
	c := &comparison{a: a, f: f, d: &report.Document{Began: time.Now(), Machine: machine, Command: commandLine(), Rounds: f.rounds}}
	c.bar = a.newCount("comparing", f.rounds*(len(f.workloads)*len(f.systems)+len(f.trials)), "")
	defer c.bar.end()
	err = c.rounds(ctx)
	c.bar.end()
	c.d.Ended = time.Now()
	if err := errors.Join(err, report.Write(c.d, f.results)); err != nil {
		return err
	}
	a.tell("written to %s", f.results)
	return a.show(c.d)
}

func (c *comparison) rounds(ctx context.Context) error {
	for round := range c.f.rounds {
		for w, workload := range c.f.workloads {
			for s := range c.f.systems {
				name := c.f.systems[(s+w+round)%len(c.f.systems)] // rotate the order, so that no system is always first
				c.bar.tell(fmt.Sprintf("round %d of %d, %s on %s", round+1, c.f.rounds, workload, name))
				if err := c.sitting(ctx, round+1, name, workload); err != nil {
					return err
				}
				c.bar.add(1)
			}
		}
		for _, name := range c.f.trials {
			c.bar.tell(fmt.Sprintf("round %d of %d, %s", round+1, c.f.rounds, name))
			found, err := c.a.try(ctx, name, &stage{home: c.f.home, size: c.f.size, duration: c.f.duration, warmup: c.f.warmup, systems: c.f.systems})
			if err != nil {
				return err
			}
			for _, t := range found {
				t.Round = round + 1
				c.d.Trials = append(c.d.Trials, t)
			}
			c.bar.add(1)
		}
	}
	return nil
}

// sitting measures a workload on one system with each number of callers.
func (c *comparison) sitting(ctx context.Context, round int, name, workload string) (err error) {
	if slices.ContainsFunc(c.d.Systems, func(s report.System) bool { return s.Name == name && s.Absent != "" }) {
		return nil
	}
	dir, err := c.f.home.fresh()
	if err != nil {
		return err
	}
	s, err := system.Start(ctx, name, system.Options{Dir: dir, Bin: c.f.home.bin})
	c.note(name, s, err)
	var absent *system.AbsentError
	if errors.As(err, &absent) {
		c.a.tell("skipped: %v", err)
		return os.RemoveAll(dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, callers := range c.f.callers {
		cell, err := c.measure(ctx, s, workload, callers)
		if err != nil {
			return fmt.Errorf("%s on %s with %d callers: %w", workload, name, callers, err)
		}
		cell.Round = round
		c.d.Cells = append(c.d.Cells, cell)
	}
	return nil
}

// note records a system when it is first used.
func (c *comparison) note(name string, s *system.System, err error) {
	if slices.ContainsFunc(c.d.Systems, func(s report.System) bool { return s.Name == name }) {
		return
	}
	noted := report.System{Name: name}
	var absent *system.AbsentError
	switch {
	case errors.As(err, &absent):
		noted.Absent = absent.Why
	case err != nil:
		return
	default:
		noted.Version = s.Version
		for _, p := range s.Nodes {
			noted.Commands = append(noted.Commands, strings.Join(p.Command, " "))
		}
	}
	c.d.Systems = append(c.d.Systems, noted)
}

// measure runs this program in a new process for one run, so that earlier runs do not
// affect the generator.
func (c *comparison) measure(ctx context.Context, s *system.System, workload string, callers int) (report.Cell, error) {
	var pids []string
	for _, pid := range s.PIDs() {
		pids = append(pids, strconv.Itoa(pid))
	}
	self, err := os.Executable()
	if err != nil {
		return report.Cell{}, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, "run", "-o", "json", "--system", s.Name, "--workload", workload,
		"--callers", strconv.Itoa(callers), "--connections", strconv.Itoa(c.f.connections[s.Name]), "--duration", c.f.duration.String(), "--warmup", c.f.warmup.String(),
		"--endpoints", strings.Join(s.Endpoints, ","), "--ca", s.CAFile, "--token-file", s.TokenFile, "--pids", strings.Join(pids, ","))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return report.Cell{}, context.Cause(ctx)
		}
		return report.Cell{}, fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	var cell report.Cell
	if err := json.Unmarshal(out, &cell); err != nil {
		return report.Cell{}, fmt.Errorf("decode the result of a run: %w", err)
	}
	return cell, nil
}
