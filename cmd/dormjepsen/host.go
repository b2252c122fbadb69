package main

import (
	"github.com/spf13/cobra"

	"dormouse/internal/cli"
	"dormouse/jepsen/program"
)

// hostCommand is what runs start beside the nodes for workloads whose handler is
// a program's. People have no use for it.
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
	flags.StringVar(&o.Name, "name", "", "its name in the cluster")
	flags.StringArrayVar(&o.Join, "join", nil, "peer address of a node; may be given again")
	flags.StringVar(&o.Listen, "listen", "", "its own peer address")
	flags.StringVar(&o.HTTP, "http", "", "address where it says at /readyz whether it has joined")
	flags.StringVar(&o.Handler, "handler", "", "name under which it has the counters' handler")
	flags.DurationVar(&o.Lease, "lease", 0, "how long it keeps what it owns though nobody hears from it")
	return cmd
}
