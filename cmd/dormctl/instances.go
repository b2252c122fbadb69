package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"dormouse/agent"
)

func (a *app) instancesCommand() *cobra.Command {
	cmd := group("instances", "Live instances: signal them, keep them awake, let them sleep", a.instancesList(), a.instancesShow(), a.instancesGet(),
		a.instancesSignal(), a.instancesAttach(), a.instancesTouch(), a.instancesDetach(), a.instancesHibernate(), a.instancesStop(), a.instancesStats(), a.instancesWatch())
	cmd.Long = `An instance is one key of a manager. The node that owns the key keeps it awake while
somebody is attached to it or signals it, hands it its signals one at a time, and
lets it sleep when it is idle. Any node takes any call.`
	return cmd
}

// lookupsMax is how many instances are looked up at once.
const lookupsMax = 16

func (a *app) instancesList() *cobra.Command {
	var page pageFlags
	cmd := &cobra.Command{
		Use: "ls MANAGER", Short: "List a manager's instances, those that sleep too", Args: exactly("MANAGER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, s store) error {
				keys, next, note, err := a.instanceKeys(ctx, s, args[0], page)
				if err != nil {
					return err
				}
				rows, err := a.lookUp(ctx, s, args[0], keys)
				if err != nil {
					return err
				}
				g := grid{head: []string{"key", "status", "node", "attached", "rev", "revision"}, note: joinNotes(note, more(next))}
				for i := range rows {
					r := &rows[i]
					g.add(r.Key, r.Status, orDash(r.Node), number(r.Attachments), number(r.Thread.Rev), number(r.Revision))
				}
				return a.print(pageOf(rows, next, func(r instanceDoc) instanceDoc { return r }), g)
			})
		},
	}
	page.define(cmd)
	return cmd
}

// instanceKeys is a page of a manager's keys: of those that have a checkpoint,
// and of those awake that have none yet. note tells of nodes that did not say.
func (a *app) instanceKeys(ctx context.Context, s store, manager string, page pageFlags) (keys []string, next, note string, err error) {
	if _, err := find[*agent.Manager](ctx, a, s, &agent.GetManager{Name: manager}); err != nil {
		return nil, "", "", err
	}
	prefix := agent.InstanceRef{Manager: manager}.Checkpoint()
	stored := page.page()
	stored.Prefix = prefix + page.prefix
	if page.after != "" {
		stored.After = prefix + page.after
	}
	list, err := find[*agent.CheckpointList](ctx, a, s, &agent.ListCheckpoints{Page: stored})
	if err != nil {
		return nil, "", "", err
	}
	for _, row := range list.Items {
		keys = append(keys, strings.TrimPrefix(row.Key, prefix))
	}
	next = strings.TrimPrefix(list.Next, prefix)
	stats, err := s.Instances().Stats(ctx, a.scope, manager)
	if err != nil {
		return nil, "", "", err
	}
	for _, n := range stats.Nodes {
		for _, key := range n.Keys {
			if strings.HasPrefix(key, page.prefix) && key > page.after && (next == "" || key <= next) {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	limit := page.limit
	if limit == 0 {
		limit = agent.ListLimitDefault
	}
	if keys = slices.Compact(keys); uint64(len(keys)) > limit {
		keys, next = keys[:limit], keys[limit-1]
	}
	return keys, next, silent(stats), nil
}

// lookUp tells how instances are. One whose node does not answer is shown as
// unavailable.
func (a *app) lookUp(ctx context.Context, s store, manager string, keys []string) ([]instanceDoc, error) {
	rows := make([]instanceDoc, len(keys))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(lookupsMax)
	for n, key := range keys {
		g.Go(func() error {
			i, err := s.Instances().Lookup(ctx, agent.InstanceRef{Scope: a.scope, Manager: manager, Key: key})
			switch {
			case err == nil:
				rows[n] = instanceDocOf(i)
			case agent.CodeOf(err) == agent.CodeUnavailable:
				rows[n] = instanceDoc{Manager: manager, Key: key, Status: string(agent.CodeUnavailable)}
			case !missing(err): // one that is gone since is left out
				return err
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(r instanceDoc) bool { return r.Key == "" }), nil
}

func (a *app) instancesShow() *cobra.Command {
	cmd := a.instanceCommand("get", "Show an instance, without waking it", func(ctx context.Context, on agent.Instances, ref agent.InstanceRef) error {
		i, err := on.Lookup(ctx, ref)
		if err != nil {
			return err
		}
		return a.printInstance(instanceDocOf(i))
	})
	cmd.Aliases = []string{"show"}
	return cmd
}

// instanceCommand is a command about one instance that takes nothing else.
func (a *app) instanceCommand(use, short string, call func(context.Context, agent.Instances, agent.InstanceRef) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " MANAGER KEY", Short: short, Args: exactly("MANAGER", "KEY"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.onInstance(cmd, args, call) },
	}
}

// onInstance makes a call on the instance that the first two arguments name.
func (a *app) onInstance(cmd *cobra.Command, args []string, call func(context.Context, agent.Instances, agent.InstanceRef) error) error {
	return a.with(cmd, func(ctx context.Context, s store) error {
		return call(ctx, s.Instances(), agent.InstanceRef{Scope: a.scope, Manager: args[0], Key: args[1]})
	})
}

func (a *app) instancesStats() *cobra.Command {
	return &cobra.Command{
		Use: "stats MANAGER", Short: "Count a manager's instances, by node", Args: exactly("MANAGER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, s store) error {
				if _, err := find[*agent.Manager](ctx, a, s, &agent.GetManager{Name: args[0]}); err != nil {
					return err
				}
				stats, err := s.Instances().Stats(ctx, a.scope, args[0])
				if err != nil {
					return err
				}
				g := grid{head: []string{"node", "awake", "waking", "draining", "attached", "signals", "wakes", "hibernated", "failed", "crashed"}, note: silent(stats)}
				doc := managerStatsDoc{Manager: stats.Manager, Nodes: []nodeStatsDoc{}}
				for _, n := range stats.Nodes {
					doc.Nodes = append(doc.Nodes, nodeStatsDoc(n))
					if n.Error == "" {
						g.add(n.Node, number(n.Awake), number(n.Waking), number(n.Draining), number(n.Attachments), number(n.Signals),
							number(n.Wakes), number(n.Hibernated), number(n.Failed), number(n.Crashed))
					}
				}
				return a.print(doc, g)
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

type instanceThreadDoc struct {
	ID  string `json:"id"`
	Rev uint64 `json:"rev"`
}

type instanceDoc struct {
	Manager     string            `json:"manager"`
	Key         string            `json:"key"`
	Partition   int               `json:"partition"`
	Node        string            `json:"node"`
	Epoch       uint64            `json:"epoch"`
	Status      string            `json:"status"`
	Source      string            `json:"source,omitzero"`
	Attachments int               `json:"attachments"`
	Thread      instanceThreadDoc `json:"thread"`
	Revision    uint64            `json:"revision"`
}

func instanceDocOf(i agent.Instance) instanceDoc {
	return instanceDoc{
		Manager: i.Manager, Key: i.Key, Partition: i.Partition, Node: i.Node, Epoch: i.Epoch, Status: string(i.Status), Source: string(i.Source),
		Attachments: i.Attachments, Thread: instanceThreadDoc{ID: i.Thread, Rev: i.Rev}, Revision: i.Revision,
	}
}

func (a *app) printInstance(i instanceDoc) error {
	var g grid
	g.add("manager", i.Manager)
	g.add("key", i.Key)
	g.add("status", i.Status)
	if i.Source != "" {
		g.add("source", i.Source)
	}
	g.add("node", orDash(i.Node))
	g.add("partition", fmt.Sprintf("%d, epoch %d", i.Partition, i.Epoch))
	g.add("attached", number(i.Attachments))
	g.add("thread", fmt.Sprintf("%s, rev %d", i.Thread.ID, i.Thread.Rev))
	g.add("revision", number(i.Revision))
	return a.print(i, g)
}

type nodeStatsDoc struct {
	Node        string   `json:"node"`
	Error       string   `json:"error,omitzero"`
	Awake       int      `json:"awake"`
	Waking      int      `json:"waking"`
	Draining    int      `json:"draining"`
	Attachments int      `json:"attachments"`
	Signals     uint64   `json:"signals"`
	Wakes       uint64   `json:"wakes"`
	Hibernated  uint64   `json:"hibernated"`
	Failed      uint64   `json:"failed"`
	Crashed     uint64   `json:"crashed"`
	Keys        []string `json:"keys,omitempty"`
}

type managerStatsDoc struct {
	Manager string         `json:"manager"`
	Nodes   []nodeStatsDoc `json:"nodes"`
}
