package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dormouse/internal/cli"
)

// The forms of output.
const (
	outputTable = "table"
	outputJSON  = "json"
)

// root returns the root command.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "dormjepsen",
		Short: "Test Dormouse's promises on real processes",
		Long: "dormjepsen runs workloads against a cluster while it injects faults, records every call, and judges the record.\n" +
			"It starts the cluster itself and changes nothing else, or it uses an existing cluster (run --endpoints).\n\n" + exitTable,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return cli.Usagef("there is no command %q; did you mean %s?", args[0], strings.Join(near, " or "))
			}
			return cli.Usagef("there is no command %q", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if !slices.Contains([]string{outputTable, outputJSON}, a.output) {
				return cli.Usagef("--output is %q: use table or json", a.output)
			}
			return nil
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(cli.FlagError)
	root.PersistentFlags().StringVarP(&a.output, "output", "o", outputTable, "table or json")
	root.AddCommand(
		a.runCommand(), a.checkCommand(), a.ednCommand(), a.listCommand(),
		a.smokeCommand(), a.selftestCommand(), a.fullCommand(), a.versionCommand(), a.hostCommand(),
		a.simCommand(), a.huntCommand(), a.simulatedCommand(), a.proofCommand(),
	)
	return root
}

func writeJSON(w io.Writer, document any) error {
	if err := json.NewEncoder(w).Encode(document); err != nil {
		return fmt.Errorf("write the result as JSON: %w", err)
	}
	return nil
}
