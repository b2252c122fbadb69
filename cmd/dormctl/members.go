package main

import (
	"context"

	"github.com/spf13/cobra"

	"dormouse/api/document"
	"dormouse/internal/cli"
)

func (a *app) membersCommand() *cobra.Command {
	return &cobra.Command{
		Use: "members", Short: "List the cluster's nodes", Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd, func(ctx context.Context, s store) error {
				status, err := s.Status(ctx)
				if err != nil {
					return err
				}
				return a.print(struct {
					Items []document.Member `json:"items"`
				}{document.ClusterStatusOf(status).Members}, membersGrid(status.Members))
			})
		},
	}
}
