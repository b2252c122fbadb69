package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func threadsLoad(a *kit.App) *cobra.Command {
	var read agent.LoadEntries
	var to, atRev uint64
	var all, desc bool
	var times kit.TimesFlags
	cmd := &cobra.Command{
		Use: "load THREAD", Short: "Load entries in order", Args: cli.Exactly("THREAD"),
		RunE: func(cmd *cobra.Command, args []string) error {
			read.Thread, read.Order, read.Times = args[0], kit.OrderOf(desc), times.Times()
			read.To = kit.Optional(cmd, "to", &to)
			read.AtRev = kit.Optional(cmd, "at-rev", &atRev)
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				found, err := kit.Find[*agent.Entries](ctx, a, s, &read)
				if err != nil {
					return err
				}
				if all {
					if found, err = loadRest(ctx, a, s, read, found); err != nil {
						return err
					}
				}
				return a.Print(kit.EntriesDoc{ID: found.Thread.ID, EntryPage: document.EntryPageOf(found)}, entriesGrid(found, desc))
			})
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&read.From, "from", 0, "first seq")
	flags.Uint64Var(&to, "to", 0, "last seq, inclusive (default the end)")
	flags.Uint64Var(&read.Tail, "tail", 0, "this many of the last entries, of --kind, instead of --from")
	flags.Uint64Var(&atRev, "at-rev", 0, "the thread as of this rev (default now)")
	flags.StringSliceVar(&read.Kinds, "kind", nil, "only entries of this kind; repeatable")
	flags.Uint64Var(&read.Limit, "limit", agent.EntriesLimitDefault, fmt.Sprintf("entries, at most %d", agent.EntriesLimitMax))
	kit.DescFlag(cmd, &desc)
	times.Define(cmd, "written")
	flags.BoolVar(&all, "all", false, "every page, not only the first")
	return cmd
}

// loadRest goes on from a first page to the end, all as of the rev at which
// that page was read.
func loadRest(ctx context.Context, a *kit.App, s kit.Store, read agent.LoadEntries, first *agent.Entries) (*agent.Entries, error) {
	whole := *first
	for read.Continue(&whole) {
		page, err := kit.Find[*agent.Entries](ctx, a, s, &read)
		if err != nil {
			return nil, err
		}
		if page.Thread.Incarnation != first.Thread.Incarnation {
			return nil, agent.Errorf(agent.CodeDeleted, "thread %q was deleted and created again while it was loaded", read.Thread)
		}
		whole.Items = append(whole.Items, page.Items...)
		whole.Next = page.Next
	}
	return &whole, nil
}

func entriesGrid(e *agent.Entries, desc bool) cli.Grid {
	g := cli.Grid{Head: []string{"seq", "id", "at", "kind", "payload"}}
	for _, entry := range e.Items {
		payload := cli.Short(entry.Payload)
		if entry.ContentType != "" {
			payload += fmt.Sprintf(" + %d bytes of %s", len(entry.Bytes), entry.ContentType)
		}
		g.Add(cli.Number(entry.Seq), entry.ID, cli.When(entry.At), entry.Kind, payload)
	}
	g.Note = fmt.Sprintf("rev %d, floor %d, head %s", e.Thread.Rev, e.Thread.Floor, e.Thread.Head)
	if e.Next != nil {
		more := "from"
		if desc {
			more = "to"
		}
		g.Note += fmt.Sprintf("\nmore: --%s %d, or --all", more, *e.Next)
	}
	return g
}
