package main

import (
	"time"

	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/jepsen"
)

// smokeParts returns a few runs that cover most workloads, and the faults that have
// found the most bugs. They omit plan, which needs many processes and longer faults;
// pod, which waits for mutations without a caller; and host, whose programs would own
// the partitions of the other workloads' instances.
func smokeParts() []part {
	return []part{
		{"1-kill-partition", jepsen.Options{Workloads: []string{"timer", "append", "turn", "changes", "cells"}, Nemeses: []string{"kill", "partition"}, Nodes: 3}},
		{"2-pause", jepsen.Options{Workloads: []string{"claim", "dedupe", "recall", "session", "quota", "tokens"}, Nemeses: []string{"pause", "slow-net"}, Nodes: 3}},
		{"3-disk", jepsen.Options{Workloads: []string{"append", "delete", "watch", "conversations"}, Nemeses: []string{"disk"}, Nodes: 3}},
		{"4-membership", jepsen.Options{Workloads: []string{"turn", "instance", "erase-live", "hibernate"}, Nemeses: []string{"membership", "transfer"}, Nodes: 3}},
		{"5-lost-disk", jepsen.Options{Workloads: []string{"dedupe", "delete", "erase", "hibernate", "export", "vectors"}, Nemeses: []string{"corrupt", "lost-disk"}, Nodes: 3}},
		{"6-power", jepsen.Options{Workloads: []string{"register", "set", "review", "fork", "lists"}, Nemeses: []string{"power"}, Nodes: 1}},
	}
}

func (a *app) smokeCommand() *cobra.Command {
	var dir, binary string
	var long time.Duration
	var seed uint64
	cmd := &cobra.Command{
		Use: "smoke", Short: "Run a few short runs that cover the most", Args: cli.Exactly(),
		Long: "smoke makes six short runs, one after another, for every change: at most 6 minutes on two cores.\n\n" + exitTable,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if long <= 0 {
				return cli.Usagef("--time is %v: use a positive duration, such as 20s", long)
			}
			if dir == "" {
				dir = freshDir("smoke", time.Now())
			}
			parts := smokeParts()
			p := newProgress(a.stderr, a.terminal)
			var done []outcome
			for _, part := range parts {
				if cmd.Context().Err() != nil {
					break
				}
				part.options.Seed = seed
				done = append(done, a.playPart(cmd.Context(), p, dir, binary, long, part))
			}
			p.end()
			s := sum(done, len(parts))
			if err := a.conclude(s); err != nil {
				return err
			}
			return verdict(s.Verdict, cmd.Context().Err() != nil)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&dir, "dir", "", "new directory for the files of the runs (default"+runsDir+"/TIME-smoke)")
	flags.StringVar(&binary, "binary", "", "path of dormoused (default: built from this checkout)")
	flags.DurationVar(&long, "time", 20*time.Second, "length of each run")
	flags.Uint64Var(&seed, "seed", 1, "seed of all runs")
	return cmd
}
