package main

import (
	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/jepsen/program"
)

// hostCommand returns the command of the host programs, which runs start for the
// workloads that need them. It is not for people.
func (a *app) hostCommand() *cobra.Command {
	var o program.Options
	cmd := &cobra.Command{
		Use: "host", Short: "Take part in a run's cluster as a host", Hidden: true, Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Logs = a.stderr
			return program.Run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Name, "name", "", "name in the cluster")
	flags.StringArrayVar(&o.Join, "join", nil, "peer address of a node; may be given again")
	flags.StringVar(&o.Listen, "listen", "", "own peer address")
	flags.StringVar(&o.KeyFile, "host-key-file", "", "host key of the cluster")
	flags.StringVar(&o.HTTP, "http", "", "address of /readyz, which reports whether the program has joined")
	flags.StringVar(&o.Handler, "handler", "", "name of the handler of the counters")
	flags.DurationVar(&o.Lease, "lease", 0, "lease: the program loses its partitions when the cluster has not heard from it for that long")
	return cmd
}
