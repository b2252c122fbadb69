package main

import (
	"context"

	"github.com/spf13/cobra"

	"dormouse/agent"
)

func (a *app) leaveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "leave NODE", Short: "Remove a node or a host for good", Args: exactly("NODE"),
		Long: "leave removes a node from the cluster for good: its data directory is refused afterwards; with an empty one it may join anew. A host's process ends, and may join when it is started anew. What the node owns moves first. To stop a node for a while, stop its process.",
		RunE: func(cmd *cobra.Command, args []string) error { return a.change(cmd, agent.ChangeLeave, args[0]) },
	}
}

func (a *app) transferCommand() *cobra.Command {
	return &cobra.Command{
		Use: "transfer [NODE]", Short: "Hand leadership to a node, or to any", Args: between(0, 1, "[NODE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			node := ""
			if len(args) > 0 {
				node = args[0]
			}
			return a.change(cmd, agent.ChangeTransfer, node)
		},
	}
}

func (a *app) promoteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "promote NODE", Short: "Let a node vote once it has caught up", Args: exactly("NODE"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.change(cmd, agent.ChangePromote, args[0]) },
	}
}

func (a *app) demoteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demote NODE", Short: "Take a node's vote", Args: exactly("NODE"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.change(cmd, agent.ChangeDemote, args[0]) },
	}
}

func (a *app) change(cmd *cobra.Command, change agent.Change, node string) error {
	return a.with(cmd, func(ctx context.Context, s store) error {
		leader, err := s.Change(ctx, change, node)
		if err != nil {
			return err
		}
		var g grid
		g.add(string(change), orDash(node))
		g.add("leader", orDash(leader))
		return a.print(struct {
			Change agent.Change `json:"change"`
			Node   string       `json:"node"`
			Leader string       `json:"leader"`
		}{change, node, leader}, g)
	})
}
