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
		Use:   "dormbench",
		Short: "Measure Dormouse side by side with its peers",
		Long: "dormbench runs workloads in a closed loop against Dormouse, etcd, PostgreSQL and Redis: the same generator, the same payloads, " +
			"every write flushed to disk before it is acknowledged.\n\n" + exitTable,
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
	root.AddCommand(a.runCommand(), a.peersCommand(), a.trialCommand(), a.partsCommand(), a.reportCommand(), a.listCommand(), a.versionCommand())
	return root
}

// print writes a result in the selected output format.
func (a *app) print(document any, table string) error {
	if a.output == outputJSON {
		if err := json.NewEncoder(a.stdout).Encode(document); err != nil {
			return fmt.Errorf("write the result as JSON: %w", err)
		}
		return nil
	}
	if _, err := io.WriteString(a.stdout, table); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
