package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the cluster as one node sees it", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd, func(ctx context.Context, s store) error {
				status, err := s.Status(ctx)
				if err != nil {
					return err
				}
				return a.printStatus(status)
			})
		},
	}
}

func (a *app) printStatus(status agent.ClusterStatus) error {
	chain := fmt.Sprintf("%08x", status.Chain)
	if a.output != outputTable {
		return a.print(document.ClusterStatusOf(status), grid{})
	}
	var g grid
	g.add("cluster", status.ClusterID)
	g.add("answered by", status.Node)
	leader := status.Leader
	if leader == "" {
		leader = "(none known: no writes are possible)"
	}
	g.add("leader", leader)
	g.add("term", number(status.Term))
	g.add("commit index", number(status.CommitIndex))
	g.add("applied index", fmt.Sprintf("%d (chain %s)", status.AppliedIndex, chain))
	g.add("version", fmt.Sprintf("%s (feature level %d)", status.Version, status.FeatureLevel))
	if err := a.printGrid(g); err != nil {
		return err
	}
	members := membersGrid(status.Members)
	members.apart = true
	return a.printGrid(members)
}

func membersGrid(members []agent.MemberStatus) grid {
	g := grid{head: []string{"node", "role", "status", "applied", "version", "http", "grpc", "raft", "gossip"}}
	for _, m := range members {
		role := "non-voter"
		switch {
		case m.Host:
			role = "host"
		case m.Leader:
			role = "leader"
		case m.Voter:
			role = "voter"
		case m.WantVote:
			role = "catching up"
		}
		applied := "-"
		if m.AppliedIndex > 0 {
			applied = number(m.AppliedIndex)
		}
		g.add(m.ID, role, orDash(m.Status), applied, orDash(m.Version),
			orDash(m.HTTPAddr), orDash(m.GRPCAddr), orDash(m.RaftAddr), orDash(m.GossipAddr))
	}
	return g
}
