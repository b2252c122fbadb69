package operator

import (
	"context"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func (a commands) leaveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "leave NODE", Short: "Remove a node or a host for good", Args: cli.Exactly("NODE"),
		Long: `leave removes a node from the cluster for good. Its partitions move to other nodes
first. Then the node is removed from the members, and its process ends with exit
code 7. The command returns once the removal is committed. The cluster refuses the
node's data directory from then on; a node with an empty directory may join under the
same name. A host may join again when its process is restarted. To stop a node for a
while, stop its process.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.change(cmd, agent.ChangeLeave, args[0]) },
	}
}

func (a commands) transferCommand() *cobra.Command {
	return &cobra.Command{
		Use: "transfer [NODE]", Short: "Transfer leadership to a node, or to any voter", Args: cli.Between(0, 1, "[NODE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			node := ""
			if len(args) > 0 {
				node = args[0]
			}
			return a.change(cmd, agent.ChangeTransfer, node)
		},
	}
}

func (a commands) promoteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "promote NODE", Short: "Make a node a voter once it has caught up", Args: cli.Exactly("NODE"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.change(cmd, agent.ChangePromote, args[0]) },
	}
}

func (a commands) demoteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demote NODE", Short: "Make a voter a non-voter", Args: cli.Exactly("NODE"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.change(cmd, agent.ChangeDemote, args[0]) },
	}
}

func (a commands) change(cmd *cobra.Command, change agent.Change, node string) error {
	return a.With(cmd, func(ctx context.Context, s kit.Store) error {
		leader, err := s.Change(ctx, change, node)
		if err != nil {
			return err
		}
		var g cli.Grid
		g.Add(string(change), cli.OrDash(node))
		if said := changed[change]; said != "" {
			g.Add("done", said)
		}
		g.Add("leader", cli.OrDash(leader))
		return a.Print(struct {
			Change agent.Change `json:"change"`
			Node   string       `json:"node"`
			Leader string       `json:"leader"`
		}{change, node, leader}, g)
	})
}

// changed describes the result of each change.
var changed = map[agent.Change]string{
	agent.ChangeLeave:    "the node was removed; other nodes own its partitions, its process ends, and its data directory is refused",
	agent.ChangePromote:  "the node votes once it has caught up: dormctl members shows when",
	agent.ChangeDemote:   "the node no longer votes; it still replicates the log",
	agent.ChangeTransfer: "leadership was transferred",
}
