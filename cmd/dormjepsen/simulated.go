package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/jepsen/sim"
)

// simulatedCommand makes one simulated run in this process, for the command sim.
func (a *app) simulatedCommand() *cobra.Command {
	return &cobra.Command{
		Use: sim.Command + " ORDER", Short: "Make one simulated run (used by sim)", Hidden: true, Args: cli.Exactly("ORDER"),
		RunE: func(_ *cobra.Command, args []string) error {
			var order sim.Order
			if err := json.Unmarshal([]byte(args[0]), &order); err != nil {
				return cli.Usagef("the order is no JSON: %w", err)
			}
			sim.Inside(order, a.stdout, a.stderr)
			return nil
		},
	}
}
