package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent/layout"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
	"dormouse/internal/pause"
)

// drainWait is the default of --wait: moves wait for the turns of their instances.
const drainWait = 5 * time.Minute

// drainInterval is the time between two looks at a member that is drained.
const drainInterval = 200 * time.Millisecond

func drainCommand(a *kit.App) *cobra.Command {
	wait := drainWait
	cmd := &cobra.Command{
		Use: "drain NODE", Short: "Move all partitions of a node to other nodes, and assign it none", Args: cli.Exactly("NODE"),
		Long: `drain moves all partitions of a node or a host to other members, and gives it none until
dormctl resume. The node stays a member and keeps its vote. A drain survives restarts of
the node; it ends when the member leaves. Pins to the member are removed. The last member
that could own partitions is not drained.

The command waits until the member owns no partition. The moves go on if it is
interrupted, or if the wait is over.`,
		Example: "  dormctl drain n1        # before its machine is stopped\n  dormctl resume n1       # afterwards",
		RunE: func(cmd *cobra.Command, args []string) error {
			if wait < 0 {
				return cli.Usagef("--wait = %v must not be negative: 0 returns at once", wait)
			}
			return a.Stream(cmd.Context(), func(ctx context.Context, s kit.Store) error { return drain(ctx, a, s, args[0], wait) })
		},
	}
	cmd.Flags().DurationVar(&wait, "wait", wait, "how long to wait for the moves; 0 returns at once")
	return cmd
}

func resumeCommand(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "resume NODE", Short: "End the drain of a node, so that it can own partitions again", Args: cli.Exactly("NODE"),
		RunE: func(cmd *cobra.Command, args []string) error { return change(a, cmd, layout.ChangeResume, args[0]) },
	}
}

func drain(ctx context.Context, a *kit.App, s kit.Store, node string, wait time.Duration) error {
	asked, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	leader, err := s.Change(asked, layout.ChangeDrain, node)
	if err != nil {
		return err
	}
	left, err := awaitDrained(ctx, a, s, node, wait)
	if err != nil { // its code says that nothing was changed
		return kit.Exit(kit.ExitFailed, fmt.Errorf("node %q is drained and its moves go on, but it is not known how far: %w; dormctl drain waits again", node, err))
	}
	said := "it owns no partitions, and gets none until dormctl resume " + node
	if left > 0 {
		said = fmt.Sprintf("%d partitions are left, and move: dormctl placement ls shows them", left)
	}
	var g cli.Grid
	g.Add("drain", node)
	g.Add("result", said)
	g.Add("leader", cli.OrDash(leader))
	err = a.Print(struct {
		Change layout.Change `json:"change"`
		Node   string        `json:"node"`
		Leader string        `json:"leader"`
		Left   int           `json:"left"`
	}{layout.ChangeDrain, node, leader, left}, g)
	if left > 0 && wait > 0 {
		err = errors.Join(err, fmt.Errorf("node %q still owns %d partitions after %v: the moves go on, and dormctl drain waits again", node, left, wait))
	}
	return err
}

// awaitDrained waits until a member owns no partitions, and shows the progress. It returns how many
// are left.
func awaitDrained(ctx context.Context, a *kit.App, s kit.Store, node string, wait time.Duration) (left int, err error) {
	var bar *cli.Progress
	for until := time.Now().Add(wait); ; {
		now, known, err := partitionsOf(ctx, a, s, node)
		if err != nil {
			return left, err
		}
		if bar == nil && known {
			bar = cli.NewProgress(a.Stderr, a.Terminal && now > 0, "moving", now, "partitions")
			defer bar.End()
			left = now
		}
		if bar != nil {
			bar.Add(left - now)
			left = now
		}
		if bar != nil && left == 0 || !time.Now().Before(until) || ctx.Err() != nil {
			return now, ctx.Err()
		}
		pause.For(ctx, min(drainInterval, time.Until(until)))
	}
}

// partitionsOf returns how many partitions a member owns. known reports whether the node that
// answers has applied the drain.
func partitionsOf(ctx context.Context, a *kit.App, s kit.Store, node string) (n int, known bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	p, err := s.Placement(ctx, layout.PlacementQuery{})
	for _, one := range p.Nodes {
		if one.Node == node {
			n, known = one.Owned, one.DrainedAt != 0
		}
	}
	return n, known, err
}
