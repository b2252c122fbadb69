package operator

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func joinTokenCommand(a *kit.App) *cobra.Command {
	cmd := cli.Group("join-token", "Tokens that let new nodes join the cluster", joinTokenCreate(a))
	cmd.Example = "  (umask 077 && dormctl join-token create > token)\n  dormoused --node-id n4 --data-dir ./n4 --join-token-file token"
	return cmd
}

func joinTokenCreate(a *kit.App) *cobra.Command {
	var ttl time.Duration
	cmd := &cobra.Command{
		Use: "create", Short: "Create a token with which a node without a cluster key can join", Args: cli.Exactly(),
		Long: `create prints a join token. A node that starts with it in --join-token-file receives the
cluster key and the addresses of the cluster. The token is a secret until it ends. It
cannot be revoked, so keep its validity short.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				token, err := s.JoinToken(ctx, ttl)
				if err != nil {
					return err
				}
				return a.Event(document.JoinToken{Token: token.Secret, ExpiresAt: token.ExpiresAt}, token.Secret)
			})
		},
	}
	cmd.Flags().DurationVar(&ttl, "ttl", time.Hour, "validity of the token, at most 720h")
	return cmd
}
