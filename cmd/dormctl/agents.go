package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func agentsCommand(a *kit.App) *cobra.Command {
	return cli.Group("agents", "Checkpoint and thread of an agent together", agentsHibernate(a), agentsThaw(a), agentsFork(a), agentsErase(a), agentsRepair(a))
}

func agentsHibernate(a *kit.App) *cobra.Command {
	var put agent.PutCheckpoint
	var from uint64
	var thread, entries, metadata string
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "hibernate KEY STATE", Short: "Append the entries that the thread lacks and save the checkpoint, in one commit",
		Args: cli.Exactly("KEY", "STATE"),
		Long: `hibernate appends the entries that the thread lacks and puts the checkpoint, which
points to them, in one commit. --entries holds the agent's entries from --from on;
entries that the thread has already must be equal. STATE is a JSON object, @FILE, or
- for stdin.`,
		Example: `  dormctl agents hibernate agent-1 '{"mood":"sleepy"}' --thread chat-1 --entries entries.jsonl --lifecycle idle`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			put.Key, put.IfRevision, put.IfIncarnation = args[0], guard.Revision(), guard.IfIncarnation
			if put.State, err = a.ObjectArg("state", args[1]); err != nil {
				return err
			}
			if put.Metadata, err = a.OptionalObject("metadata", metadata); err != nil {
				return err
			}
			ops := []agent.Op{&put}
			if thread != "" {
				journal := &agent.HibernateThread{Thread: thread, FromSeq: from}
				if entries != "" {
					if journal.Entries, err = a.Drafts(entries); err != nil {
						return err
					}
				}
				journal.Rev = from + uint64(len(journal.Entries))
				put.Thread = &agent.Pointer{Thread: thread, Rev: journal.Rev}
				ops = []agent.Op{journal, &put}
			} else if entries != "" || from != 0 {
				return cli.Usagef("--entries and --from are of a thread: name it with --thread")
			}
			return hibernate(a, cmd, ops)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&thread, "thread", "", "the agent's thread")
	flags.StringVar(&entries, "entries", "", "file with the agent's entries from --from on, or - for stdin")
	flags.Uint64Var(&from, "from", 0, "seq of the first of them: the rev where --entries is empty")
	flags.Uint64Var(&put.Version, "version", 0, "your schema's version; 0 means 1")
	flags.StringVar(&put.Lifecycle, "lifecycle", "", "why it is saved: "+strings.Join(agent.CheckpointLifecycles(), ", "))
	flags.StringVar(&metadata, "metadata", "", "a JSON object, @FILE or -")
	kit.TTLFlag(cmd, &put.TTL)
	guard.Define(cmd, true)
	return cmd
}

func hibernate(a *kit.App, cmd *cobra.Command, ops []agent.Op) error {
	return a.With(cmd, func(ctx context.Context, s kit.Store) error {
		result, err := a.Commit(ctx, s, ops...)
		if err != nil {
			return err
		}
		written, err := kit.ResultOf[*agent.CheckpointResult](result, len(ops)-1)
		if err != nil {
			return err
		}
		return a.Print(document.CheckpointStampOf(written), writtenGrid(written))
	})
}

func agentsThaw(a *kit.App) *cobra.Command {
	var tail, revision uint64
	cmd := &cobra.Command{
		Use: "thaw KEY", Short: "Show a checkpoint and the thread that it points to, at one index", Args: cli.Exactly("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				read := &agent.Thaw{Key: args[0], Tail: kit.Optional(cmd, "tail", &tail), Revision: revision}
				thawed, err := kit.Find[*agent.Thawed](ctx, a, s, read)
				if err != nil {
					return err
				}
				return printThawed(a, thawed)
			})
		},
	}
	cmd.Flags().Uint64Var(&tail, "tail", 0, "only this many of the last entries (default all)")
	cmd.Flags().Uint64Var(&revision, "revision", 0, "from an older checkpoint that is still kept")
	return cmd
}

func printThawed(a *kit.App, t *agent.Thawed) error {
	if a.Output != kit.OutputTable {
		return a.Print(document.ThawedOf(t), cli.Grid{})
	}
	if err := a.PrintGrid(checkpointGrid(t.Checkpoint)); err != nil || t.Thread == nil {
		return err
	}
	entries := entriesGrid(&agent.Entries{Thread: *t.Thread, Items: t.Entries}, false)
	entries.Apart = true
	if t.Ahead > 0 {
		entries.Note += "\nentries of the thread after the checkpoint: " + cli.Number(t.Ahead)
	}
	return a.PrintGrid(entries)
}
