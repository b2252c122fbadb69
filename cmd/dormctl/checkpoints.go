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

func (a commands) checkpointsCommand() *cobra.Command {
	return cli.Group("checkpoints", "Agents' saved states",
		a.checkpointsGet(), a.checkpointsPut(), a.checkpointsPatch(),
		a.checkpointsHistory(), a.checkpointsList(), a.checkpointsRemove())
}

func (a commands) checkpointsGet() *cobra.Command {
	var revision uint64
	cmd := &cobra.Command{
		Use: "get KEY", Short: "Show a checkpoint", Args: cli.Exactly("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				found, err := kit.Find[*agent.Checkpoint](ctx, a.App, s, &agent.GetCheckpoint{Key: args[0], Revision: revision})
				if err != nil {
					return err
				}
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

func (a commands) checkpointsPut() *cobra.Command {
	var op agent.PutCheckpoint
	var metadata string
	var pointer kit.PointerFlags
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "put KEY STATE", Short: "Write a checkpoint whole", Args: cli.Exactly("KEY", "STATE"),
		Long: "put writes a checkpoint whole. STATE is a JSON object, @FILE, or - for stdin.",
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
			return a.writeCheckpoint(cmd, &op)
		},
	}
	cmd.Flags().Uint64Var(&op.Version, "version", 0, "your schema's version; 0 means 1")
	cmd.Flags().StringVar(&op.Lifecycle, "lifecycle", "", "why it is saved: "+strings.Join(agent.CheckpointLifecycles(), ", "))
	cmd.Flags().StringVar(&metadata, "metadata", "", "a JSON object, @FILE or -")
	kit.TTLFlag(cmd, &op.TTL)
	pointer.Define(cmd)
	guard.Define(cmd, true)
	return cmd
}

func (a commands) checkpointsPatch() *cobra.Command {
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "patch KEY PATCH", Short: "Merge a patch into a checkpoint's state", Args: cli.Exactly("KEY", "PATCH"),
		Long: "patch merges a JSON object (or @FILE, or - for stdin) into the state, as RFC 7396 says: null removes a member.",
		RunE: func(cmd *cobra.Command, args []string) error {
			patch, err := a.ObjectArg("patch", args[1])
			if err != nil {
				return err
			}
			return a.writeCheckpoint(cmd, &agent.PatchCheckpoint{
				Key: args[0], Patch: patch, IfRevision: guard.Revision(), IfIncarnation: guard.IfIncarnation,
			})
		},
	}
	guard.Define(cmd, true)
	return cmd
}

func (a commands) writeCheckpoint(cmd *cobra.Command, op agent.Op) error {
	return a.With(cmd, func(ctx context.Context, s kit.Store) error {
		result, err := a.Commit(ctx, s, op)
		if err != nil {
			return err
		}
		written, err := kit.ResultOf[*agent.CheckpointResult](result, 0)
		if err != nil {
			return err
		}
		return a.Print(document.CheckpointStampOf(written), writtenGrid(written))
	})
}

func writtenGrid(r *agent.CheckpointResult) cli.Grid {
	var g cli.Grid
	g.Add("checkpoint", r.Key)
	g.Add("revision", cli.Number(r.Revision))
	g.Add("thread", kit.PointerCell(r.Thread))
	g.Add("updated", cli.When(r.UpdatedAt))
	return g
}

func (a commands) checkpointsHistory() *cobra.Command {
	return &cobra.Command{
		Use: "history KEY", Short: "List the kept revisions, newest first", Args: cli.Exactly("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				list, err := kit.Find[*agent.CheckpointList](ctx, a.App, s, &agent.CheckpointHistory{Key: args[0]})
				if err != nil {
					return err
				}
				return a.printCheckpoints(list)
			})
		},
	}
}

func (a commands) checkpointsList() *cobra.Command {
	var page kit.PageFlags
	cmd := &cobra.Command{
		Use: "ls", Short: "List checkpoints", Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				list, err := kit.Find[*agent.CheckpointList](ctx, a.App, s, &agent.ListCheckpoints{Page: page.Page()})
				if err != nil {
					return err
				}
				return a.printCheckpoints(list)
			})
		},
	}
	page.Define(cmd)
	return cmd
}

func (a commands) printCheckpoints(list *agent.CheckpointList) error {
	g := cli.Grid{Head: []string{"key", "revision", "bytes", "thread", "lifecycle", "updated", "expires"}, Note: kit.More(list.Next)}
	for _, r := range list.Items {
		g.Add(r.Key, cli.Number(r.Revision), cli.Number(r.Bytes), kit.PointerCell(r.Thread), cli.OrDash(r.Lifecycle), cli.When(r.UpdatedAt), cli.When(r.ExpiresAt))
	}
	return a.Print(document.ListOf(list.Items, list.Next, document.CheckpointRowOf), g)
}

func (a commands) checkpointsRemove() *cobra.Command {
	var guard kit.GuardFlags
	var seal time.Duration
	cmd := &cobra.Command{
		Use: "rm KEY...", Short: "Delete checkpoints and their history, in one commit", Args: cli.Between(1, -1, "KEY..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ops []agent.Op
			for _, key := range args {
				ops = append(ops, &agent.DeleteCheckpoint{
					Key: key, IfRevision: guard.Revision(), IfIncarnation: guard.IfIncarnation, Seal: seal,
				})
			}
			return a.remove(cmd, "checkpoint", args, ops)
		},
	}
	guard.Define(cmd, true)
	kit.SealFlag(cmd, &seal)
	return cmd
}

// remove commits deletes, one for each name.
func (a commands) remove(cmd *cobra.Command, noun string, names []string, ops []agent.Op) error {
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
