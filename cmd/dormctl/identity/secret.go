package identity

import (
	"github.com/spf13/cobra"

	"dormouse/access"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func secretCommand(a *kit.App) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "secret", Short: "Create the secret of a root token, before the cluster exists", Args: cli.Exactly(),
		Long: `secret prints a random token, or writes it to a file with mode 0600. It needs no cluster.
Give the file to all nodes of a new cluster with --root-token-file: the token may do
everything then. With --file, an existing file is unchanged.`,
		Example: `  dormctl tokens secret --file root.token`,
		RunE: func(*cobra.Command, []string) error {
			secret := access.NewSecret()
			if file == "" {
				return a.Event(map[string]string{"token": secret}, secret)
			}
			return a.CreateSecret(file, secret+"\n")
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "write the token to this file, unless it exists, instead of printing it")
	return cmd
}
