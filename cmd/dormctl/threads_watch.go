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

func threadsWatch(a *kit.App) *cobra.Command {
	var from uint64
	cmd := &cobra.Command{
		Use: "watch THREAD", Short: "Show entries and follow new ones, until interrupted", Args: cli.Exactly("THREAD"),
		Long: `watch shows each entry from --from on (default: the first that is kept), one a line, and continues with new
ones. It ends when the thread is deleted, or compacted past --from.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.Stream(cmd.Context(), func(ctx context.Context, s kit.Store) error {
				w := agent.Watch{Scope: a.Scope, Thread: args[0], From: from}
				if !cmd.Flags().Changed("from") {
					var err error
					if w.From, w.Incarnation, err = floor(ctx, a, s, args[0]); err != nil {
						return err
					}
				}
				return watch(ctx, a, s, w)
			})
		},
	}
	cmd.Flags().Uint64Var(&from, "from", 0, "first seq (default the first that is kept)")
	return cmd
}

func threadsTail(a *kit.App) *cobra.Command {
	var last uint64
	var follow bool
	cmd := &cobra.Command{
		Use: "tail THREAD", Short: "Show the last entries, one a line", Args: cli.Exactly("THREAD"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if last == 0 {
				return cli.Usagef("-n 0 shows nothing: use at least 1")
			}
			return a.Stream(cmd.Context(), func(ctx context.Context, s kit.Store) error {
				shown, err := tail(ctx, a, s, args[0], last)
				if err != nil || !follow {
					return err
				}
				return watch(ctx, a, s, agent.Watch{Scope: a.Scope, Thread: args[0], From: shown.Rev, Incarnation: shown.Incarnation})
			})
		},
	}
	cmd.Flags().Uint64VarP(&last, "lines", "n", 10, "how many")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "follow new entries, until interrupted")
	return cmd
}

// tail shows the last entries and returns the thread with them.
func tail(ctx context.Context, a *kit.App, s kit.Store, thread string, last uint64) (shown agent.Thread, err error) {
	short, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	read := agent.LoadEntries{Thread: thread, Tail: last, Limit: min(last, agent.EntriesLimitMax)}
	found, err := kit.Find[*agent.Entries](short, a, s, &read)
	if err != nil {
		return shown, err
	}
	if found, err = loadRest(short, a, s, read, found); err != nil {
		return shown, err
	}
	for _, entry := range found.Items {
		if err := showEntry(a, entry); err != nil {
			return shown, err
		}
	}
	return found.Thread, nil
}

// floor returns the first seq that is left of a thread, and its incarnation; zeros if the thread does not exist
// yet.
func floor(ctx context.Context, a *kit.App, s kit.Store, thread string) (seq, incarnation uint64, err error) {
	short, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	found, err := kit.Find[*agent.Entries](short, a, s, &agent.LoadEntries{Thread: thread, Limit: 1})
	switch agent.CodeOf(err) {
	case "":
		return found.Thread.Floor, found.Thread.Incarnation, nil
	case agent.CodeNotFound:
		return 0, 0, nil
	default:
		return 0, 0, err
	}
}

// watch shows the entries of a watch until ctx ends.
func watch(ctx context.Context, a *kit.App, s kit.Store, w agent.Watch) error {
	for event, err := range s.Watch(ctx, w) {
		if err != nil {
			if ctx.Err() != nil {
				return nil // interrupted, as it was meant to be
			}
			return err
		}
		switch event.Kind {
		case agent.EventEntry:
			if err := showEntry(a, event.Entry); err != nil {
				return err
			}
		case agent.EventCompacted:
			return &agent.Error{
				Code: agent.CodeCompacted, Op: -1, Floor: event.Floor,
				Detail: fmt.Sprintf("thread %q has been compacted: go on with --from %d", w.Thread, event.Floor),
			}
		case agent.EventClaim, agent.EventChanges: // none are watched
		case agent.EventDeleted:
			return agent.Errorf(agent.CodeNotFound, "thread %q has been deleted", w.Thread)
		}
	}
	return nil
}

func showEntry(a *kit.App, e agent.Entry) error {
	return a.Event(document.EntryOf(e), fmt.Sprintf("%d  %s  %s  %s", e.Seq, cli.When(e.At), e.Kind, e.Payload))
}
