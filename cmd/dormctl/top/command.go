package top

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
	"dormouse/internal/pause"
)

// topEveryMin is the minimum of --every.
const topEveryMin = 100 * time.Millisecond

// Command returns the command top.
func Command(a *kit.App) *cobra.Command {
	var once bool
	var every time.Duration
	cmd := &cobra.Command{
		Use: "top", Short: "Show nodes, partitions and live instances, refreshed periodically", Args: cli.Exactly(),
		Long: `top shows each node's partitions and instances, of all scopes, and the moves under
way. It refreshes every second until interrupted. With --once, or if the output is no
terminal, it takes two samples, a second apart, and shows the result.

Dormant instances are stored and not awake. top counts them by listing them, from
time to time, so their number is older than the others.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if every < topEveryMin {
				return cli.Usagef("--every is %v: use at least %v", every, topEveryMin)
			}
			ctx := cmd.Context()
			return a.Stream(ctx, func(ctx context.Context, s kit.Store) error {
				if once || a.Size == nil {
					return topOnce(ctx, a, s, every)
				}
				return topLive(ctx, a, s, every)
			})
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "show one result and exit")
	cmd.Flags().DurationVar(&every, "every", time.Second, "time between two samples")
	return cmd
}

// sample is the state of the cluster at one time.
type sample struct {
	At        time.Time
	status    layout.ClusterStatus
	Placement layout.Placement
	Stats     agent.ManagerStats // of all managers of all scopes
}

// look asks for all that top shows but the count of those that are stored.
func look(ctx context.Context, a *kit.App, s kit.Store) (*sample, error) {
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	var out sample
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { out.status, err = s.Status(ctx); return err })
	g.Go(func() (err error) { out.Placement, err = s.Placement(ctx, layout.PlacementQuery{}); return err })
	g.Go(func() (err error) { out.Stats, err = s.Instances().Stats(ctx, "", ""); return err })
	err := g.Wait()
	out.At = time.Now()
	return &out, err
}

// topOnce shows what is so now, and what came to pass in a while.
func topOnce(ctx context.Context, a *kit.App, s kit.Store, every time.Duration) error {
	before, err := look(ctx, a, s)
	if err != nil {
		return err
	}
	pause.For(ctx, every)
	now, err := look(ctx, a, s)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	stored, err := countStored(within, s)
	if err != nil {
		return err
	}
	doc := topOf(before, now, &stored)
	if a.Output != kit.OutputTable {
		return a.Print(doc, cli.Grid{})
	}
	return a.Write(topText(doc))
}

// topLive refreshes the display until it is interrupted. While the cluster does not
// answer, it says so: below the last sample, or on stderr for programs.
func topLive(ctx context.Context, a *kit.App, s kit.Store, every time.Duration) error {
	count := newCensus()
	ended := make(chan struct{})
	life, end := context.WithCancel(ctx)
	go func() { defer close(ended); count.run(life, s) }()
	defer func() { end(); <-ended }()
	screen := &screen{out: a.Stdout, size: a.Size}
	var before, now *sample
	for ctx.Err() == nil {
		next, err := look(ctx, a, s)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && now == nil:
			return err
		case err == nil:
			before, now = now, next
		}
		doc := topOf(before, now, count.stored())
		switch {
		case a.Output == kit.OutputTable:
			text := topText(doc)
			if err != nil {
				text += "\n" + cli.Clean(err.Error()) + "\n"
			}
			err = screen.draw(text)
		case err != nil: // programs do not get the same result twice
			a.Tell("dormctl: %v", err)
			err = nil
		default:
			err = a.Event(doc, "")
		}
		if err != nil {
			return err
		}
		pause.For(ctx, every)
	}
	return nil
}

// storedPrefix is the prefix of the keys of instances' checkpoints.
const storedPrefix = "instances/"

// countStored returns the number of stored instances in all scopes.
func countStored(ctx context.Context, s kit.Store) (count int, err error) {
	err = eachPage(ctx, s, "", func(page agent.Page) agent.Read { return &agent.ListScopes{Page: page} }, func(scopes *agent.ScopeList) (string, error) {
		for _, scope := range scopes.Items {
			prefixed := func(page agent.Page) agent.Read {
				page.Prefix = storedPrefix
				return &agent.ListCheckpoints{Page: page}
			}
			if err := eachPage(ctx, s, scope.Name, prefixed, func(list *agent.CheckpointList) (string, error) {
				count += len(list.Items)
				return list.Next, nil
			}); err != nil {
				return "", err
			}
		}
		return scopes.Next, nil
	})
	return count, err
}

// eachPage reads all pages of a list, with stale reads, and calls see with each page.
func eachPage[T agent.Found](ctx context.Context, s kit.Store, scope string, read func(agent.Page) agent.Read, see func(T) (next string, err error)) error {
	page := agent.Page{Limit: agent.ListLimitMax}
	for {
		answers, err := s.Read(ctx, agent.Reads{Scope: scope, Stale: true, Reads: []agent.Read{read(page)}})
		if err != nil {
			return err
		}
		if len(answers.Answers) != 1 {
			return errors.New("one read does not have one answer: does the node run another version?")
		}
		list, err := kit.FoundIn[T](answers, 0)
		if err != nil {
			return err
		}
		if page.After, err = see(list); err != nil || page.After == "" {
			return err
		}
	}
}
