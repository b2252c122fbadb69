package main

import (
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func threadsCommand(a *kit.App) *cobra.Command {
	return cli.Group("threads", "Threads: append-only logs of entries",
		threadsAppend(a), threadsGet(a), threadsLoad(a), threadsBytes(a), threadsTail(a), threadsWatch(a), threadsFork(a),
		threadsCompact(a), threadsVerify(a), threadsList(a), threadsRemove(a))
}

func threadsGet(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "get THREAD", Short: "Show a thread's rev, head and metadata", Args: cli.Exactly("THREAD"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return kit.Show(a, cmd, &agent.GetThread{Thread: args[0]}, func(found *agent.Thread) error {
				return a.Print(document.ThreadOf(*found), threadGrid(*found))
			})
		},
	}
}

func threadGrid(t agent.Thread) cli.Grid {
	var g cli.Grid
	g.Add("thread", t.ID)
	g.Add("rev", cli.Number(t.Rev))
	g.Add("head", t.Head.String())
	g.Add("floor", cli.Number(t.Floor))
	g.Add("incarnation", cli.Number(t.Incarnation))
	if f := t.ForkedFrom; f != nil {
		g.Add("forked from", f.Thread+"@"+cli.Number(f.Rev))
	}
	if t.Summary != nil {
		g.Add("summary", cli.Short(t.Summary))
	}
	g.Add("created", cli.When(t.CreatedAt))
	g.Add("updated", cli.When(t.UpdatedAt))
	if t.Metadata != nil {
		g.Add("metadata", string(t.Metadata))
	}
	return g
}

func threadsList(a *kit.App) *cobra.Command {
	read := func(page agent.Page) agent.Read { return &agent.ListThreads{Page: page} }
	return kit.ListRows(a, "List threads", read, func(list *agent.ThreadList) error {
		g := cli.Grid{Head: []string{"thread", "rev", "floor", "head", "forked from", "updated"}, Note: kit.More(list.Next)}
		for _, t := range list.Items {
			from := ""
			if t.ForkedFrom != nil {
				from = t.ForkedFrom.Thread + "@" + cli.Number(t.ForkedFrom.Rev)
			}
			g.Add(t.ID, cli.Number(t.Rev), cli.Number(t.Floor), t.Head.String()[:12], cli.OrDash(from), cli.When(t.UpdatedAt))
		}
		return a.Print(document.ListOf(list.Items, list.Next, document.ThreadOf), g)
	})
}

func threadsRemove(a *kit.App) *cobra.Command {
	cmd := removeCommand(a, "thread", "THREAD...", "Delete threads, in one commit", false,
		func(thread string, guard kit.GuardFlags, seal time.Duration) agent.Op {
			return &agent.DeleteThread{Thread: thread, IfIncarnation: guard.IfIncarnation, Seal: seal}
		})
	return orByPrefix(a, cmd, agent.ChangedThread, "THREAD...")
}
