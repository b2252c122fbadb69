package operator

import (
	"fmt"

	"github.com/spf13/cobra"

	"dormouse/cluster/keys"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func clusterKeyCommand(a *kit.App) *cobra.Command {
	var hostOf, file string
	cmd := &cobra.Command{
		Use: "cluster-key", Short: "Create the secret that the nodes of a new cluster share", Args: cli.Exactly(),
		Long: `cluster-key prints a new cluster key, or with --host the host key that belongs to a
cluster key. It needs no cluster. A process with the cluster key can act as a node: keep the key
in a file with mode 0600, and give it to all nodes with --cluster-key-file. A host key
lets a process take part as a host, and never as a node. With --file it writes the key to a
file with mode 0600, unless that file exists: a start script may run it each time.`,
		Example: `  (umask 077 && dormctl cluster-key > cluster.key)
  dormctl cluster-key --host cluster.key > host.key`,
		RunE: func(*cobra.Command, []string) error {
			text, kind := keys.New().Encode(), "cluster_key"
			if hostOf != "" {
				ring, err := keys.ReadRing(hostOf)
				if err != nil {
					return fmt.Errorf("read the cluster key: %w", err)
				}
				text, kind = ring.Current().Host().Encode(), "host_key"
			}
			if file != "" {
				return a.CreateSecret(file, text)
			}
			return a.Event(map[string]string{kind: text}, text)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "write the key to this file, unless it exists, instead of printing it")
	cmd.Flags().StringVar(&hostOf, "host", "", "file of a cluster key: print its host key")
	return cmd
}
