package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func instancesCommand(a *kit.App) *cobra.Command {
	cmd := cli.Group("instances", "Live instances: start, signal, watch and hibernate them", instancesList(a), instancesShow(a), instancesGet(a),
		instancesSignal(a), instancesAttach(a), instancesTouch(a), instancesDetach(a), instancesHibernate(a), instancesStop(a), instancesStats(a), instancesWatch(a))
	cmd.Long = `An instance is one key of a manager. The node that owns the key keeps the instance
awake while it has attachments or signals, handles its signals one at a time, and
hibernates it when it is idle. Any node accepts any call.`
	return cmd
}

// lookupsMax is how many instances are looked up at once.
const lookupsMax = 16

func instancesList(a *kit.App) *cobra.Command {
	var page kit.PageFlags
	cmd := &cobra.Command{
		Use: "ls MANAGER", Short: "List a manager's instances, including those that hibernate", Args: cli.Exactly("MANAGER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				keys, next, note, err := instanceKeys(ctx, a, s, args[0], page)
				if err != nil {
					return err
				}
				rows, err := lookUp(ctx, a, s, args[0], keys)
				if err != nil {
					return err
				}
				g := cli.Grid{Head: []string{"key", "status", "node", "attached", "rev", "revision"}, Note: joinNotes(note, kit.More(next))}
				for i := range rows {
					r := &rows[i]
					g.Add(r.Key, string(r.Status), cli.OrDash(r.Node), cli.Number(r.Attachments), cli.Number(r.Thread.Rev), cli.Number(r.Revision))
				}
				return a.Print(document.ListOf(rows, next, func(r document.Instance) document.Instance { return r }), g)
			})
		},
	}
	page.Define(cmd)
	return cmd
}

// instanceKeys is a page of a manager's keys: of those that have a checkpoint,
// and of those awake that have none yet. note tells of nodes that did not say.
func instanceKeys(ctx context.Context, a *kit.App, s kit.Store, manager string, page kit.PageFlags) (keys []string, next, note string, err error) {
	if _, err := kit.Find[*agent.Manager](ctx, a, s, &agent.GetManager{Name: manager}); err != nil {
		return nil, "", "", err
	}
	prefix := agent.InstanceRef{Manager: manager}.Checkpoint()
	stored := page.Page()
	stored.Prefix = prefix + page.Prefix
	if page.After != "" {
		stored.After = prefix + page.After
	}
	list, err := kit.Find[*agent.CheckpointList](ctx, a, s, &agent.ListCheckpoints{Page: stored})
	if err != nil {
		return nil, "", "", err
	}
	for _, row := range list.Items {
		keys = append(keys, strings.TrimPrefix(row.Key, prefix))
	}
	next = strings.TrimPrefix(list.Next, prefix)
	stats, err := s.Instances().Stats(ctx, a.Scope, manager)
	if err != nil {
		return nil, "", "", err
	}
	for _, n := range stats.Nodes {
		for _, key := range n.Keys {
			if strings.HasPrefix(key, page.Prefix) && key > page.After && (next == "" || key <= next) {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	limit := page.Limit
	if limit == 0 {
		limit = agent.ListLimitDefault
	}
	if keys = slices.Compact(keys); uint64(len(keys)) > limit {
		keys, next = keys[:limit], keys[limit-1]
	}
	return keys, next, silent(stats), nil
}

// lookUp returns the states of instances. One whose node does not answer is shown as
// unavailable.
func lookUp(ctx context.Context, a *kit.App, s kit.Store, manager string, keys []string) ([]document.Instance, error) {
	rows := make([]document.Instance, len(keys))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(lookupsMax)
	for n, key := range keys {
		g.Go(func() error {
			i, err := s.Instances().Lookup(ctx, agent.InstanceRef{Scope: a.Scope, Manager: manager, Key: key})
			switch {
			case err == nil:
				rows[n] = document.InstanceOf(i)
			case agent.CodeOf(err) == agent.CodeUnavailable:
				rows[n] = document.Instance{Manager: manager, Key: key, Status: agent.InstanceStatus(agent.CodeUnavailable)}
			case !kit.Missing(err): // one that is gone since is left out
				return err
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(r document.Instance) bool { return r.Key == "" }), nil
}

func instancesShow(a *kit.App) *cobra.Command {
	cmd := instanceCommand(a, "get", "Show an instance, without waking it", func(ctx context.Context, on agent.Instances, ref agent.InstanceRef) error {
		i, err := on.Lookup(ctx, ref)
		if err != nil {
			return err
		}
		return printInstance(a, document.InstanceOf(i))
	})
	cmd.Aliases = []string{"show"}
	return cmd
}

// instanceCommand is a command about one instance that takes nothing else.
func instanceCommand(a *kit.App, use, short string, call func(context.Context, agent.Instances, agent.InstanceRef) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " MANAGER KEY", Short: short, Args: cli.Exactly("MANAGER", "KEY"),
		RunE: func(cmd *cobra.Command, args []string) error { return onInstance(a, cmd, args, call) },
	}
}

// onInstance makes a call on the instance that the first two arguments name.
func onInstance(a *kit.App, cmd *cobra.Command, args []string, call func(context.Context, agent.Instances, agent.InstanceRef) error) error {
	return a.With(cmd, func(ctx context.Context, s kit.Store) error {
		return call(ctx, s.Instances(), agent.InstanceRef{Scope: a.Scope, Manager: args[0], Key: args[1]})
	})
}

func instancesStats(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "stats MANAGER", Short: "Count a manager's instances, by node", Args: cli.Exactly("MANAGER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				if _, err := kit.Find[*agent.Manager](ctx, a, s, &agent.GetManager{Name: args[0]}); err != nil {
					return err
				}
				stats, err := s.Instances().Stats(ctx, a.Scope, args[0])
				if err != nil {
					return err
				}
				g := cli.Grid{Head: []string{"node", "awake", "waking", "draining", "attached", "signals", "wakes", "hibernated", "failed", "crashed"}, Note: silent(stats)}
				for _, n := range stats.Nodes {
					if n.Error == "" {
						g.Add(n.Node, cli.Number(n.Awake), cli.Number(n.Waking), cli.Number(n.Draining), cli.Number(n.Attachments), cli.Number(n.Signals),
							cli.Number(n.Wakes), cli.Number(n.Hibernated), cli.Number(n.Failed), cli.Number(n.Crashed))
					}
				}
				return a.Print(document.ManagerStatsOf(stats), g)
			})
		},
	}
}

// silent tells of the nodes that did not say what they have; empty where all
// did.
func silent(stats agent.ManagerStats) string {
	var notes []string
	for _, n := range stats.Nodes {
		if n.Error != "" {
			notes = append(notes, fmt.Sprintf("%s did not answer: %s", n.Node, n.Error))
		}
	}
	return strings.Join(notes, "\n")
}

// joinNotes puts those that are there on lines of their own.
func joinNotes(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(n string) bool { return n == "" }), "\n")
}

func printInstance(a *kit.App, i document.Instance) error {
	var g cli.Grid
	g.Add("manager", i.Manager)
	g.Add("key", i.Key)
	g.Add("status", string(i.Status))
	if i.Source != "" {
		g.Add("source", string(i.Source))
	}
	g.Add("node", cli.OrDash(i.Node))
	g.Add("partition", fmt.Sprintf("%d, epoch %d", i.Partition, i.Epoch))
	g.Add("attached", cli.Number(i.Attachments))
	g.Add("thread", fmt.Sprintf("%s, rev %d", i.Thread.ID, i.Thread.Rev))
	g.Add("revision", cli.Number(i.Revision))
	return a.Print(i, g)
}
