package operator

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"dormouse/agent/layout"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func statusCommand(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the cluster as one node sees it", Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				status, err := s.Status(ctx)
				if err != nil {
					return err
				}
				return printStatus(a, status)
			})
		},
	}
}

func printStatus(a *kit.App, status layout.ClusterStatus) error {
	chain := fmt.Sprintf("%08x", status.Chain)
	if a.Output != kit.OutputTable {
		return a.Print(document.ClusterStatusOf(status), cli.Grid{})
	}
	var g cli.Grid
	g.Add("cluster", status.ClusterID)
	g.Add("answered by", status.Node)
	leader := status.Leader
	if leader == "" {
		leader = "(none known: no writes are possible)"
	}
	g.Add("leader", leader)
	g.Add("term", cli.Number(status.Term))
	g.Add("commit index", cli.Number(status.CommitIndex))
	g.Add("applied index", fmt.Sprintf("%d (chain %s)", status.AppliedIndex, chain))
	g.Add("version", fmt.Sprintf("%s (feature level %d)", status.Version, status.FeatureLevel))
	if status.Auth == layout.AuthOff {
		g.Add("auth", "off: every caller may do everything"+insecure(status.Insecure))
	} else {
		g.Add("auth", cli.OrDash(status.Auth)+insecure(status.Insecure))
	}
	if b := status.Backup; b != nil {
		for _, row := range kit.BackupRows(*b) {
			g.Add(row[0], row[1])
		}
	}
	if err := a.PrintGrid(g); err != nil {
		return err
	}
	members := membersGrid(status.Members)
	members.Apart = true
	return a.PrintGrid(members)
}

// insecure returns a note if the answering node was started with --insecure.
func insecure(set bool) string {
	if set {
		return " (--insecure: it may listen without TLS)"
	}
	return ""
}

func membersGrid(members []layout.MemberStatus) cli.Grid {
	g := cli.Grid{Head: []string{"node", "role", "status", "applied", "version", "http", "grpc", "raft", "gossip"}}
	var newest uint64
	for _, m := range members {
		newest = max(newest, m.AppliedIndex)
	}
	for _, m := range members {
		role := "non-voter"
		switch {
		case m.Host:
			role = "host"
		case m.Leader:
			role = "leader"
		case m.Voter:
			role = "voter"
		case m.WantVote && m.Status == "alive" && m.AppliedIndex > 0 && newest-m.AppliedIndex <= layout.LagMax:
			role = "spare"
		case m.WantVote:
			role = "catching up"
		}
		if m.DrainedAt != 0 {
			role += ", drained"
		}
		applied := "-"
		if m.AppliedIndex > 0 {
			applied = cli.Number(m.AppliedIndex)
		}
		g.Add(m.ID, role, cli.OrDash(m.Status), applied, cli.OrDash(m.Version),
			cli.OrDash(m.HTTPAddr), cli.OrDash(m.GRPCAddr), cli.OrDash(m.RaftAddr), cli.OrDash(m.GossipAddr))
	}
	return g
}
