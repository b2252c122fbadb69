package operator

import (
	"context"

	"github.com/spf13/cobra"

	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func membersCommand(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "members", Short: "List the cluster's nodes", Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				status, err := s.Status(ctx)
				if err != nil {
					return err
				}
				return a.Print(struct {
					Items []document.Member `json:"items"`
				}{document.ClusterStatusOf(status).Members}, membersGrid(status.Members))
			})
		},
	}
}
