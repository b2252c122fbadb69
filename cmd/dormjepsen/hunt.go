package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/jepsen/check"
	"dormouse/jepsen/sim"
)

func (a *app) huntCommand() *cobra.Command {
	var most time.Duration
	cmd := &cobra.Command{
		Use: "hunt [BUG…]", Short: "Check that the simulator finds seeded bugs",
		Long: "hunt makes simulated runs with each seeded bug, one seed after the other, until one finds it. Without names it takes all bugs that a simulation can meet.\n" +
			"A bug that is not found in time counts as a violation.\n\n" + exitTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			hunts, err := sim.Hunts(args...)
			if err != nil {
				return cli.Usagef("%w", err)
			}
			return a.hunt(cmd.Context(), hunts, most)
		},
	}
	cmd.Flags().DurationVar(&most, "cpu", 10*time.Minute, "CPU time for each bug")
	return cmd
}

func (a *app) hunt(ctx context.Context, hunts []sim.Hunt, most time.Duration) error {
	program, err := sim.Build(ctx, true)
	if err != nil {
		return err
	}
	var all []sim.Caught
	worst := check.OK
	for _, h := range hunts {
		c, err := program.Hunt(ctx, h, most)
		if err != nil {
			if ctx.Err() != nil {
				break
			}
			return err
		}
		all = append(all, c)
		if !c.Found {
			worst = check.Violation
		}
		a.tell("%s: found: %v, %d runs, %v of CPU time", h.Bug, c.Found, c.Runs, c.CPU.Round(time.Second))
	}
	if err := a.print(all, sim.HuntTable(all)); err != nil {
		return err
	}
	return verdict(worst, ctx.Err() != nil)
}
