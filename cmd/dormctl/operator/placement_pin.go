package operator

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"dormouse/agent/layout"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func placementMove(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "move PARTITION NODE", Short: "Move a partition to a node, and pin it there", Args: cli.Exactly("PARTITION", "NODE"),
		Long: `move pins a partition to a node or a host, which gets it as soon as its owner has released
it. While the member cannot own it, such as while it is down, the partition is placed as
others are. The pin ends with dormctl placement unpin, and when the member is drained or
leaves. dormctl placement explain shows the partition of a key.`,
		RunE: func(cmd *cobra.Command, args []string) error { return pin(a, cmd, args[0], args[1]) },
	}
}

func placementUnpin(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "unpin PARTITION", Short: "Remove the pin of a partition, so that it can move for balance again", Args: cli.Exactly("PARTITION"),
		RunE: func(cmd *cobra.Command, args []string) error { return pin(a, cmd, args[0], "") },
	}
}

func pin(a *kit.App, cmd *cobra.Command, partition, node string) error {
	n, err := strconv.Atoi(partition)
	if err != nil || n < 0 || n >= layout.Partitions {
		return cli.Usagef("PARTITION = %q must be a number from 0 to %d", partition, layout.Partitions-1)
	}
	return a.With(cmd, func(ctx context.Context, s kit.Store) error {
		if err := s.PinPartition(ctx, n, node); err != nil {
			return err
		}
		var g cli.Grid
		g.Add("partition", partition)
		g.Add("pinned to", cli.OrDash(node))
		return a.Print(struct {
			Partition int    `json:"partition"`
			Node      string `json:"node"`
		}{n, node}, g)
	})
}

type pinDoc struct {
	Partition int    `json:"partition"`
	Node      string `json:"node"`
	Since     int64  `json:"since"`
}

func pinsOf(p layout.Placement) []pinDoc {
	pins := make([]pinDoc, len(p.Pins))
	for i, one := range p.Pins {
		pins[i] = pinDoc(one)
	}
	return pins
}
