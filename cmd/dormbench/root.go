package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"dormouse/internal/cli"
)

// root returns the root command.
func (a *app) root() *cobra.Command {
	long := "dormbench runs workloads in a closed loop against Dormouse, etcd, PostgreSQL and Redis: the same generator, the same payloads, " +
		"every write flushed to disk before it is acknowledged.\n\n" + exitTable
	return cli.Root("dormbench", "Measure Dormouse side by side with its peers", long, &a.output,
		a.runCommand(), a.peersCommand(), a.trialCommand(), a.partsCommand(), a.reportCommand(), a.listCommand(), a.versionCommand(),
	)
}

// print writes a result in the selected output format.
func (a *app) print(document any, table string) error {
	if a.output == cli.OutputJSON {
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
