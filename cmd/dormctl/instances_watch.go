package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func (a commands) instancesWatch() *cobra.Command {
	return &cobra.Command{
		Use: "watch MANAGER [KEY]", Short: "Show how instances change as they do, on all nodes, until interrupted", Args: cli.Between(1, 2, "MANAGER", "[KEY]"),
		Long: `watch shows one change a line: when, which instance, what it is since, why, and its node.
A line that begins with "missed" says that changes before it may have been
missed, as were those before the watch: list the instances again to see their state.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			w := agent.InstanceWatch{Scope: a.Scope, Manager: args[0]}
			if len(args) > 1 {
				w.Key = args[1]
			}
			return a.Stream(cmd.Context(), func(ctx context.Context, s kit.Store) error { return a.watchInstances(ctx, s, w) })
		},
	}
}

// watchInstances shows changes until ctx ends.
func (a commands) watchInstances(ctx context.Context, s kit.Store, w agent.InstanceWatch) error {
	for event, err := range s.Instances().Watch(ctx, w) {
		switch {
		case err != nil && ctx.Err() != nil:
			return nil // interrupted, as it was meant to be
		case err != nil:
			return err
		}
		line := fmt.Sprintf("%s  %s  %s  %s  %s", cli.When(event.At), event.Key, event.Status, event.Reason, event.Node)
		switch {
		case event.Missed && event.Node != "":
			line = "missed on " + event.Node + ": " + event.Reason
		case event.Missed:
			line = "missed: " + event.Reason
		}
		doc := instanceEventDoc{
			Missed: event.Missed, Manager: event.Manager, Key: event.Key, Node: event.Node, Epoch: event.Epoch, Status: string(event.Status),
			Reason: event.Reason, At: event.At,
		}
		if err := a.Event(doc, line); err != nil {
			return err
		}
	}
	return nil
}

type instanceEventDoc struct {
	Missed  bool   `json:"missed,omitzero"`
	Manager string `json:"manager,omitzero"`
	Key     string `json:"key,omitzero"`
	Node    string `json:"node,omitzero"`
	Epoch   uint64 `json:"epoch,omitzero"`
	Status  string `json:"status,omitzero"`
	Reason  string `json:"reason"`
	At      int64  `json:"at,omitzero"`
}
