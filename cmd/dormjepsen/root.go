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
	long := "dormjepsen runs workloads against a cluster while it injects faults, records every call, and judges the record.\n" +
		"It starts the cluster itself and changes nothing else, or it uses an existing cluster (run --endpoints).\n\n" + exitTable
	return cli.Root("dormjepsen", "Test Dormouse's promises on real processes", long, &a.output,
		a.runCommand(), a.checkCommand(), a.ednCommand(), a.listCommand(),
		a.smokeCommand(), a.selftestCommand(), a.fullCommand(), a.versionCommand(), a.hostCommand(),
		a.simCommand(), a.huntCommand(), a.simulatedCommand(), a.proofCommand(),
	)
}

func writeJSON(w io.Writer, document any) error {
	if err := json.NewEncoder(w).Encode(document); err != nil {
		return fmt.Errorf("write the result as JSON: %w", err)
	}
	return nil
}
