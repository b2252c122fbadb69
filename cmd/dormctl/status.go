package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"dormouse/agent"
)

type addressesDoc struct {
	HTTP   string `json:"http"`
	GRPC   string `json:"grpc"`
	Raft   string `json:"raft"`
	Gossip string `json:"gossip"`
}

type memberDoc struct {
	ID           string       `json:"id"`
	Incarnation  string       `json:"incarnation"`
	Addresses    addressesDoc `json:"addresses"`
	Voter        bool         `json:"voter"`
	WantVote     bool         `json:"want_vote"`
	Leader       bool         `json:"leader"`
	Status       string       `json:"status"`
	Version      string       `json:"version"`
	AppliedIndex uint64       `json:"applied_index"`
	Host         bool         `json:"host,omitempty"`
}

func memberOf(m agent.MemberStatus) memberDoc {
	return memberDoc{
		ID: m.ID, Incarnation: m.Incarnation,
		Addresses: addressesDoc{HTTP: m.HTTPAddr, GRPC: m.GRPCAddr, Raft: m.RaftAddr, Gossip: m.GossipAddr},
		Voter:     m.Voter, WantVote: m.WantVote, Leader: m.Leader, Status: m.Status, Version: m.Version, AppliedIndex: m.AppliedIndex,
		Host: m.Host,
	}
}

func membersOf(list []agent.MemberStatus) []memberDoc {
	docs := []memberDoc{}
	for _, m := range list {
		docs = append(docs, memberOf(m))
	}
	return docs
}

type statusDoc struct {
	ClusterID    string      `json:"cluster_id"`
	Node         string      `json:"node"`
	Leader       string      `json:"leader"`
	Term         uint64      `json:"term"`
	CommitIndex  uint64      `json:"commit_index"`
	AppliedIndex uint64      `json:"applied_index"`
	Chain        string      `json:"chain"` // of all batches up to applied_index, in hex: equal on equal nodes
	FeatureLevel uint32      `json:"feature_level"`
	Version      string      `json:"version"`
	Members      []memberDoc `json:"members"`
}

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
		return a.print(statusDoc{
			ClusterID: status.ClusterID, Node: status.Node, Leader: status.Leader, Term: status.Term,
			CommitIndex: status.CommitIndex, AppliedIndex: status.AppliedIndex, Chain: chain,
			FeatureLevel: status.FeatureLevel, Version: status.Version, Members: membersOf(status.Members),
		}, grid{})
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
