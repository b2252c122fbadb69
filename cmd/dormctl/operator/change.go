package operator

import (
	"context"

	"github.com/spf13/cobra"

	"dormouse/agent/layout"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func leaveCommand(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "leave NODE", Short: "Remove a node or a host permanently", Args: cli.Exactly("NODE"),
		Long: `leave removes a node from the cluster permanently. Its partitions move to other nodes
first. Then the node is no longer a member, and its process ends with exit code 7. The
command returns once all of that is committed. The cluster refuses the node's data
directory from then on; a node with an empty one may join under the same name. A host
may join again with a new process. To stop a node for a while, use dormctl drain
and stop its process.`,
		RunE: func(cmd *cobra.Command, args []string) error { return change(a, cmd, layout.ChangeLeave, args[0]) },
	}
}

func transferCommand(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "transfer [NODE]", Short: "Transfer leadership to a node, or to any voter", Args: cli.Between(0, 1, "[NODE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			node := ""
			if len(args) > 0 {
				node = args[0]
			}
			return change(a, cmd, layout.ChangeTransfer, node)
		},
	}
}

func promoteCommand(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "promote NODE", Short: "Make a node a voter once it has caught up", Args: cli.Exactly("NODE"),
		RunE: func(cmd *cobra.Command, args []string) error { return change(a, cmd, layout.ChangePromote, args[0]) },
	}
}

func demoteCommand(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "demote NODE", Short: "Make a voter a node without a vote", Args: cli.Exactly("NODE"),
		RunE: func(cmd *cobra.Command, args []string) error { return change(a, cmd, layout.ChangeDemote, args[0]) },
	}
}

func change(a *kit.App, cmd *cobra.Command, change layout.Change, node string) error {
	return a.With(cmd, func(ctx context.Context, s kit.Store) error {
		leader, err := s.Change(ctx, change, node)
		if err != nil {
			return err
		}
		var g cli.Grid
		g.Add(string(change), cli.OrDash(node))
		if said := changed[change]; said != "" {
			g.Add("result", said)
		}
		g.Add("leader", cli.OrDash(leader))
		return a.Print(struct {
			Change layout.Change `json:"change"`
			Node   string        `json:"node"`
			Leader string        `json:"leader"`
		}{change, node, leader}, g)
	})
}

// changed describes the result of each change.
var changed = map[layout.Change]string{
	layout.ChangeLeave:    "it is no longer a member: its partitions have moved, its process ends, and its data directory is refused",
	layout.ChangePromote:  "it votes once it has caught up: dormctl members shows when",
	layout.ChangeDemote:   "it has no vote any more, and still receives the log",
	layout.ChangeTransfer: "leadership was handed over",
	layout.ChangeResume:   "it may own partitions again: the leader gives it its share",
}
