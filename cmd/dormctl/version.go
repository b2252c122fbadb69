package main

import (
	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
	"dormouse/internal/version"
)

func versionCommand(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show this program's version", Args: cli.Exactly(),
		RunE: func(*cobra.Command, []string) error {
			var g cli.Grid
			g.Add("dormctl", version.String())
			return a.Print(struct {
				Version string `json:"version"`
			}{version.String()}, g)
		},
	}
}
