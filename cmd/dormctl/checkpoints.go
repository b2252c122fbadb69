package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func checkpointsCommand(a *kit.App) *cobra.Command {
	return cli.Group("checkpoints", "Checkpoints: saved states of agents",
		checkpointsGet(a), checkpointsPut(a), checkpointsPatch(a),
		checkpointsHistory(a), checkpointsList(a), checkpointsRemove(a))
}

func checkpointsGet(a *kit.App) *cobra.Command {
	var revision uint64
	cmd := &cobra.Command{
		Use: "get KEY", Short: "Show a checkpoint", Args: cli.Exactly("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return kit.Show(a, cmd, &agent.GetCheckpoint{Key: args[0], Revision: revision}, func(found *agent.Checkpoint) error {
				return a.Print(document.CheckpointOf(found), checkpointGrid(*found))
			})
		},
	}
	cmd.Flags().Uint64Var(&revision, "revision", 0, "an older revision that is still kept; 0 means the current one")
	return cmd
}

func checkpointGrid(c agent.Checkpoint) cli.Grid {
	var g cli.Grid
	g.Add("key", c.Key)
	g.Add("revision", cli.Number(c.Revision))
	g.Add("incarnation", cli.Number(c.Incarnation))
	g.Add("version", cli.Number(c.Version))
	g.Add("thread", kit.PointerCell(c.Thread))
	if c.Thread != nil {
		g.Add("head", cli.OrDash(c.Thread.Head))
	}
	g.Add("lifecycle", cli.OrDash(c.Lifecycle))
	g.Add("created", cli.When(c.CreatedAt))
	g.Add("updated", cli.When(c.UpdatedAt))
	g.Add("expires", cli.When(c.ExpiresAt))
	g.Add("metadata", string(kit.Object(c.Metadata)))
	g.Add("state", string(kit.Object(c.State)))
	return g
}

func checkpointsPut(a *kit.App) *cobra.Command {
	var op agent.PutCheckpoint
	var metadata string
	var pointer kit.PointerFlags
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "put KEY STATE", Short: "Write a whole checkpoint", Args: cli.Exactly("KEY", "STATE"),
		Long: "put writes a whole checkpoint. STATE is a JSON object, @FILE, or - for stdin.",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			op.Key, op.IfRevision, op.IfIncarnation = args[0], guard.Revision(), guard.IfIncarnation
			if op.State, err = a.ObjectArg("state", args[1]); err != nil {
				return err
			}
			if op.Metadata, err = a.OptionalObject("metadata", metadata); err != nil {
				return err
			}
			if op.Thread, err = pointer.Pointer(); err != nil {
				return err
			}
			return writeCheckpoint(a, cmd, &op)
		},
	}
	cmd.Flags().Uint64Var(&op.Version, "version", 0, "your schema's version; 0 means 1")
	cmd.Flags().BoolVar(&op.SkipExisting, "skip-existing", false, "keep a checkpoint that exists")
	cmd.Flags().StringVar(&op.Lifecycle, "lifecycle", "", "why it is saved: "+strings.Join(agent.CheckpointLifecycles(), ", "))
	cmd.Flags().StringVar(&metadata, "metadata", "", "a JSON object, @FILE or -")
	kit.TTLFlag(cmd, &op.TTL)
	pointer.Define(cmd)
	guard.Define(cmd, true)
	return cmd
}

func checkpointsPatch(a *kit.App) *cobra.Command {
	var op agent.PatchCheckpoint
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "patch KEY PATCH", Short: "Merge a patch into a checkpoint's state", Args: cli.Exactly("KEY", "PATCH"),
		Long: "patch merges a JSON object (or @FILE, or - for stdin) into the state, as RFC 7396 says: null removes a member.",
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if op.Patch, err = a.ObjectArg("patch", args[1]); err != nil {
				return err
			}
			op.Key, op.IfRevision, op.IfIncarnation = args[0], guard.Revision(), guard.IfIncarnation
			return writeCheckpoint(a, cmd, &op)
		},
	}
	cmd.Flags().BoolVar(&op.Upsert, "upsert", false, "patch a missing checkpoint as an empty one")
	cmd.Flags().BoolVar(&op.Shallow, "shallow", false, "replace members of the state whole")
	guard.Define(cmd, true)
	return cmd
}

func writeCheckpoint(a *kit.App, cmd *cobra.Command, op agent.Op) error {
	return kit.Change(a, cmd, op, func(written *agent.CheckpointResult) error {
		return a.Print(document.CheckpointStampOf(written), writtenGrid(written))
	})
}

func writtenGrid(r *agent.CheckpointResult) cli.Grid {
	var g cli.Grid
	g.Add("checkpoint", r.Key)
	g.Add("revision", revisionCell(r.Revision, r.Skipped))
	g.Add("thread", kit.PointerCell(r.Thread))
	g.Add("updated", cli.When(r.UpdatedAt))
	return g
}

// revisionCell is the revision after a write, which may have kept what exists.
func revisionCell(revision uint64, kept bool) string {
	if kept {
		return cli.Number(revision) + " (kept: it was there)"
	}
	return cli.Number(revision)
}

func checkpointsHistory(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "history KEY", Short: "List the kept revisions, newest first", Args: cli.Exactly("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return kit.Show(a, cmd, &agent.CheckpointHistory{Key: args[0]}, func(list *agent.CheckpointList) error {
				return printCheckpoints(a, list)
			})
		},
	}
}

func checkpointsList(a *kit.App) *cobra.Command {
	var body bool
	var where agent.Where
	read := func(page agent.Page) agent.Read { return &agent.ListCheckpoints{Page: page, Body: body, Where: where} }
	cmd := kit.ListRows(a, "List checkpoints", read, func(list *agent.CheckpointList) error {
		return printCheckpoints(a, list)
	})
	kit.WhereFlag(cmd, &where)
	cmd.Flags().BoolVar(&body, "body", false, "with the state and the metadata, which -o json and yaml show")
	return cmd
}

func printCheckpoints(a *kit.App, list *agent.CheckpointList) error {
	g := cli.Grid{Head: []string{"key", "revision", "bytes", "thread", "lifecycle", "updated", "expires"}, Note: kit.More(list.Next)}
	for _, r := range list.Items {
		g.Add(r.Key, cli.Number(r.Revision), cli.Number(r.Bytes), kit.PointerCell(r.Thread), cli.OrDash(r.Lifecycle), cli.When(r.UpdatedAt), cli.When(r.ExpiresAt))
	}
	return a.Print(document.ListOf(list.Items, list.Next, document.CheckpointRowOf), g)
}

func checkpointsRemove(a *kit.App) *cobra.Command {
	cmd := removeCommand(a, "checkpoint", "KEY...", "Delete checkpoints and their history, in one commit", true,
		func(key string, guard kit.GuardFlags, seal time.Duration) agent.Op {
			return &agent.DeleteCheckpoint{Key: key, IfRevision: guard.Revision(), IfIncarnation: guard.IfIncarnation, Seal: seal}
		})
	return orByPrefix(a, cmd, agent.ChangedCheckpoint, "KEY...")
}

// removeCommand deletes what its arguments name, in one commit. revision reports
// whether the delete can require a revision; op returns the delete of one name.
func removeCommand(a *kit.App, noun, names, short string, revision bool, op func(name string, guard kit.GuardFlags, seal time.Duration) agent.Op) *cobra.Command {
	var guard kit.GuardFlags
	var seal time.Duration
	cmd := &cobra.Command{
		Use: "rm " + names, Short: short, Args: cli.Between(1, -1, names),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ops []agent.Op
			for _, name := range args {
				ops = append(ops, op(name, guard, seal))
			}
			return remove(a, cmd, noun, args, ops)
		},
	}
	guard.Define(cmd, revision)
	kit.SealFlag(cmd, &seal)
	return cmd
}

// remove commits deletes, one for each name.
func remove(a *kit.App, cmd *cobra.Command, noun string, names []string, ops []agent.Op) error {
	return a.With(cmd, func(ctx context.Context, s kit.Store) error {
		result, err := a.Commit(ctx, s, ops...)
		if err != nil {
			return err
		}
		docs := make([]kit.DeletedDoc, len(ops))
		existed := make([]bool, len(ops))
		for i := range ops {
			deleted, err := kit.ResultOf[*agent.DeleteResult](result, i)
			if err != nil {
				return err
			}
			docs[i], existed[i] = kit.DeletedDoc{ID: names[i], Deleted: document.DeletedOf(deleted)}, deleted.Existed
		}
		return a.Print(struct {
			Items []kit.DeletedDoc `json:"items"`
		}{docs}, kit.DeletedGrid(noun, names, existed))
	})
}
