package top

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
	"dormouse/internal/pause"
)

// The bounds of the time between two samples.
const (
	topEveryMin = 100 * time.Millisecond
	topEveryMax = time.Minute // of the key +; --every may be longer
)

// Command returns the command top.
func Command(a *kit.App) *cobra.Command {
	var once bool
	var every time.Duration
	cmd := &cobra.Command{
		Use: "top", Short: "Show nodes, instances, sessions, timers and slow calls, refreshed periodically", Args: cli.Exactly(),
		Long: `top shows the nodes of the cluster, and on further pages the managers of instances,
sessions and timers of all scopes, and the slow calls of all nodes. It refreshes every
second until q ends it; ? lists the keys. A page asks the cluster only while it is
shown. Lists are cut at 1,000 rows.

With --once it takes two samples of the nodes, a second apart, and shows the result; so
it does without -o json if the output is no terminal or TERM is dumb. With -o json it
writes a document for each sample, also into a pipe.

Dormant instances are stored and not awake. top counts them by listing them, from
time to time, so their number is older than the others, and unknown until the first
count has ended; --once waits for it as long as --timeout. The page of slow calls needs a
token that may change the cluster, if the nodes ask for tokens.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if every < topEveryMin {
				return cli.Usagef("--every is %v: use at least %v", every, topEveryMin)
			}
			ctx := cmd.Context()
			return a.Stream(ctx, func(ctx context.Context, s kit.Store) error {
				switch {
				case once:
					return topOnce(ctx, a, s, every)
				case a.Output != kit.OutputTable:
					return topStream(ctx, a, s, every)
				case a.Size == nil || a.Getenv("TERM") == "dumb":
					return topOnce(ctx, a, s, every)
				default:
					return topLive(ctx, a, s, every)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "show one result and exit")
	cmd.Flags().DurationVar(&every, "every", time.Second, "time between two samples")
	return cmd
}

// topOnce shows what is so now, and what came to pass in a while.
func topOnce(ctx context.Context, a *kit.App, s kit.Store, every time.Duration) error {
	before, err := look(ctx, a, s, true)
	if err != nil {
		return err
	}
	pause.For(ctx, every)
	now, err := look(ctx, a, s, true)
	if err != nil {
		return err
	}
	stored, err := countWithin(ctx, a, s)
	if err != nil {
		return err
	}
	doc := topOf(before, now, stored)
	if a.Output != kit.OutputTable {
		return a.Print(doc, cli.Grid{})
	}
	return a.Write(topText(doc))
}

// countWithin counts the stored instances. If that takes longer than the timeout, it says so and
// returns nil.
func countWithin(ctx context.Context, a *kit.App, s kit.Store) (*int, error) {
	within, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	stored, err := countStored(within, s)
	switch {
	case err == nil:
		return &stored, nil
	case within.Err() != nil && ctx.Err() == nil:
		a.Tell("dormctl: counting the dormant instances took longer than --timeout, %v", a.Timeout)
		return nil, nil
	default:
		return nil, err
	}
}

// topStream writes a document for each sample until it is interrupted. While the cluster
// does not answer, it says so on stderr.
func topStream(ctx context.Context, a *kit.App, s kit.Store, every time.Duration) error {
	count, end := startCensus(ctx, s)
	defer end()
	var before, now *sample
	for ctx.Err() == nil {
		next, err := look(ctx, a, s, true)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && now == nil:
			return err
		case err != nil: // programs do not get the same result twice
			a.Tell("dormctl: %v", err)
		default:
			before, now = now, next
			if err := a.Event(topOf(before, now, count.stored()), ""); err != nil {
				return err
			}
		}
		pause.For(ctx, every)
	}
	return nil
}

// startCensus starts a census, which end ends.
func startCensus(ctx context.Context, s kit.Store) (_ *census, end func()) {
	count := newCensus()
	ended := make(chan struct{})
	life, cancel := context.WithCancel(ctx)
	go func() { defer close(ended); count.run(life, s) }()
	return count, func() { cancel(); <-ended }
}
