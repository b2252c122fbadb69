package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
)

func (a *app) threadsCommand() *cobra.Command {
	return group("threads", "Append-only journals",
		a.threadsAppend(), a.threadsGet(), a.threadsLoad(), a.threadsTail(), a.threadsWatch(), a.threadsFork(),
		a.threadsCompact(), a.threadsVerify(), a.threadsList(), a.threadsRemove())
}

func (a *app) threadsGet() *cobra.Command {
	return &cobra.Command{
		Use: "get THREAD", Short: "Show a thread's rev, head and metadata", Args: exactly("THREAD"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd, func(ctx context.Context, s store) error {
				found, err := find[*agent.Thread](ctx, a, s, &agent.GetThread{Thread: args[0]})
				if err != nil {
					return err
				}
				return a.print(document.ThreadOf(*found), threadGrid(*found))
			})
		},
	}
}

func threadGrid(t agent.Thread) grid {
	var g grid
	g.add("thread", t.ID)
	g.add("rev", number(t.Rev))
	g.add("head", t.Head.String())
	g.add("floor", number(t.Floor))
	g.add("incarnation", number(t.Incarnation))
	if f := t.ForkedFrom; f != nil {
		g.add("forked from", f.Thread+"@"+number(f.Rev))
	}
	if t.Summary != nil {
		g.add("summary", short(t.Summary))
	}
	g.add("created", when(t.CreatedAt))
	g.add("updated", when(t.UpdatedAt))
	g.add("metadata", string(object(t.Metadata)))
	return g
}

func (a *app) threadsList() *cobra.Command {
	var page pageFlags
	cmd := &cobra.Command{
		Use: "ls", Short: "List threads", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd, func(ctx context.Context, s store) error {
				list, err := find[*agent.ThreadList](ctx, a, s, &agent.ListThreads{Page: page.page()})
				if err != nil {
					return err
				}
				g := grid{head: []string{"thread", "rev", "floor", "head", "forked from", "updated"}, note: more(list.Next)}
				for _, t := range list.Items {
					from := ""
					if t.ForkedFrom != nil {
						from = t.ForkedFrom.Thread + "@" + number(t.ForkedFrom.Rev)
					}
					g.add(t.ID, number(t.Rev), number(t.Floor), t.Head.String()[:12], orDash(from), when(t.UpdatedAt))
				}
				return a.print(document.ListOf(list.Items, list.Next, document.ThreadOf), g)
			})
		},
	}
	page.define(cmd)
	return cmd
}

func (a *app) threadsRemove() *cobra.Command {
	var guard guardFlags
	var seal time.Duration
	cmd := &cobra.Command{
		Use: "rm THREAD...", Short: "Delete threads, in one commit", Args: between(1, -1, "THREAD..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ops []agent.Op
			for _, thread := range args {
				ops = append(ops, &agent.DeleteThread{Thread: thread, IfIncarnation: guard.ifIncarnation, Seal: seal})
			}
			return a.remove(cmd, "thread", args, ops)
		},
	}
	guard.define(cmd, false)
	sealFlag(cmd, &seal)
	return cmd
}
