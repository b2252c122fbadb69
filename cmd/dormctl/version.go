package main

import (
	"github.com/spf13/cobra"

	"dormouse/internal/version"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show this program's version", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			var g grid
			g.add("dormctl", version.String())
			return a.print(struct {
				Version string `json:"version"`
			}{version.String()}, g)
		},
	}
}
