package main

import (
	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/internal/version"
	"dormouse/jepsen/report"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show this program's version", Args: cli.Exactly(),
		RunE: func(*cobra.Command, []string) error {
			return a.print(struct {
				Version string `json:"version"`
			}{version.String()}, report.Table(nil, [][]string{{"dormjepsen", version.String()}}))
		},
	}
}
