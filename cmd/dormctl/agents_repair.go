package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

// repairFlags are the choices for a mismatch.
type repairFlags struct {
	drop, rebuild bool
	thread        string
	state         string
}

func agentsRepair(a *kit.App) *cobra.Command {
	var f repairFlags
	cmd := &cobra.Command{
		Use: "repair KEY", Short: "Show or repair a checkpoint that does not match its thread", Args: cli.Exactly("KEY"),
		Long: `repair looks at an agent that does not thaw because its checkpoint points to a
thread that does not exist (missing_thread) or has another history (thread_mismatch).

Without a choice it shows both sides and changes nothing; the exit code is 4 if they
do not match. The choices:

  --drop-checkpoint       delete the checkpoint and start fresh; the thread stays
  --rebuild-from-thread   keep the thread, and put a checkpoint that points to it
                          at its current rev. Its state is --state ({} by default),
                          because the old state belongs to another history. The old
                          checkpoint stays readable with "checkpoints get --revision".

The rebuilt checkpoint has the ttl of the old one. A choice applies only to
the checkpoint that was shown: it is refused if another one was saved meanwhile, and
if nothing needs repair.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.drop && f.rebuild {
				return cli.Usagef("choose one of --drop-checkpoint and --rebuild-from-thread")
			}
			if !f.rebuild && (f.state != "" || f.thread != "") {
				return cli.Usagef("--state and --thread are for --rebuild-from-thread")
			}
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				return repair(ctx, a, s, args[0], f)
			})
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.drop, "drop-checkpoint", false, "delete the checkpoint; the thread stays")
	flags.BoolVar(&f.rebuild, "rebuild-from-thread", false, "put a checkpoint that points to the thread at its current rev")
	flags.StringVar(&f.state, "state", "", "the rebuilt checkpoint's state: a JSON object, @FILE or - (default {})")
	flags.StringVar(&f.thread, "thread", "", "the thread to rebuild from (default the one that the checkpoint points to)")
	return cmd
}

// diagnosis is an agent's checkpoint and thread, as of one index.
type diagnosis struct {
	checkpoint *agent.Checkpoint
	thread     *agent.Thread // the one to rebuild from; nil if it is gone
	err        *agent.Error  // why it does not thaw; nil if it does
}

func diagnose(ctx context.Context, a *kit.App, s kit.Store, key, thread string) (diagnosis, error) {
	checkpoint, err := kit.Find[*agent.Checkpoint](ctx, a, s, &agent.GetCheckpoint{Key: key})
	if err != nil {
		return diagnosis{}, err
	}
	if thread == "" && checkpoint.Thread != nil {
		thread = checkpoint.Thread.Thread
	}
	none := uint64(0)
	reads := []agent.Read{&agent.GetCheckpoint{Key: key}, &agent.Thaw{Key: key, Tail: &none}}
	if thread != "" {
		reads = append(reads, &agent.GetThread{Thread: thread})
	}
	answers, err := a.Read(ctx, s, reads...)
	if err != nil {
		return diagnosis{}, err
	}
	var d diagnosis
	if d.checkpoint, err = kit.FoundIn[*agent.Checkpoint](answers, 0); err != nil {
		return diagnosis{}, err
	}
	d.err = answers.Answers[1].Err
	if d.err != nil && !errors.Is(d.err, agent.ErrMissingThread) && !errors.Is(d.err, agent.ErrThreadMismatch) {
		return diagnosis{}, d.err
	}
	if thread != "" {
		d.thread, err = kit.FoundIn[*agent.Thread](answers, 2)
		if err != nil && !kit.Missing(err) {
			return diagnosis{}, err
		}
	}
	return d, nil
}

func repair(ctx context.Context, a *kit.App, s kit.Store, key string, f repairFlags) error {
	d, err := diagnose(ctx, a, s, key, f.thread)
	if err != nil {
		return err
	}
	switch {
	case d.err == nil && (f.drop || f.rebuild && f.thread == "" && d.thread != nil):
		return kit.Exit(kit.ExitConflict, fmt.Errorf("agent %q thaws, so there is nothing to repair: delete it with \"dormctl checkpoints rm\", or name another thread with --thread", key))
	case f.drop:
		return dropCheckpoint(ctx, a, s, d)
	case f.rebuild:
		return rebuild(ctx, a, s, d, f)
	default:
		return showBoth(a, d)
	}
}

func dropCheckpoint(ctx context.Context, a *kit.App, s kit.Store, d diagnosis) error {
	c := d.checkpoint
	result, err := a.Commit(ctx, s, &agent.DeleteCheckpoint{Key: c.Key, IfRevision: &c.Revision, IfIncarnation: c.Incarnation})
	if err != nil {
		return err
	}
	deleted, err := kit.ResultOf[*agent.DeleteResult](result, 0)
	if err != nil {
		return err
	}
	return a.Print(document.DeletedOf(deleted), kit.DeletedGrid("checkpoint", []string{c.Key}, []bool{deleted.Existed}))
}

func rebuild(ctx context.Context, a *kit.App, s kit.Store, d diagnosis, f repairFlags) error {
	c := d.checkpoint
	if d.thread == nil {
		return kit.Exit(kit.ExitNotFound, fmt.Errorf(
			"checkpoint %q has no thread to rebuild from: name one with --thread, or choose --drop-checkpoint", c.Key))
	}
	state, err := a.OptionalObject("state", f.state)
	if err != nil {
		return err
	}
	if state == nil {
		state = agent.JSON("{}")
	}
	var ttl time.Duration
	if c.ExpiresAt != 0 {
		ttl = time.Duration(max(c.ExpiresAt-c.UpdatedAt, 1)) * time.Millisecond
	}
	result, err := a.Commit(ctx, s, &agent.PutCheckpoint{
		Key: c.Key, Version: c.Version, State: state, Lifecycle: "manual", Metadata: c.Metadata, TTL: ttl,
		Thread: &agent.Pointer{
			Thread: d.thread.ID, Rev: d.thread.Rev, Head: d.thread.Head.String(), Incarnation: d.thread.Incarnation,
		},
		IfRevision: &c.Revision, IfIncarnation: c.Incarnation,
	})
	if err != nil {
		return err
	}
	written, err := kit.ResultOf[*agent.CheckpointResult](result, 0)
	if err != nil {
		return err
	}
	return a.Print(document.CheckpointStampOf(written), writtenGrid(written))
}

// showBoth prints the two sides. A mismatch is a failure, so that scripts see
// it too.
func showBoth(a *kit.App, d diagnosis) error {
	c := d.checkpoint
	both := struct {
		OK         bool                `json:"ok"`
		Code       agent.Code          `json:"code,omitzero"`
		Detail     string              `json:"detail,omitzero"`
		Checkpoint document.Checkpoint `json:"checkpoint"`
		Thread     *document.Thread    `json:"thread"`
	}{OK: d.err == nil, Checkpoint: document.CheckpointOf(c)}
	g := cli.Grid{Head: []string{"", "thread", "rev", "head", "incarnation", "updated"}}
	if p := c.Thread; p != nil {
		g.Add("checkpoint points to", p.Thread, cli.Number(p.Rev), cli.OrDash(p.Head), cli.Number(p.Incarnation), cli.When(c.UpdatedAt))
	} else {
		g.Add("checkpoint points to", "-", "-", "-", "-", cli.When(c.UpdatedAt))
	}
	if t := d.thread; t != nil {
		doc := document.ThreadOf(*t)
		both.Thread = &doc
		g.Add("thread is at", t.ID, cli.Number(t.Rev), t.Head.String(), cli.Number(t.Incarnation), cli.When(t.UpdatedAt))
	} else if c.Thread != nil {
		g.Add("thread is at", "(missing)", "-", "-", "-", "-")
	}
	if d.err == nil {
		g.Note = "they match: nothing to repair"
		return a.Print(both, g)
	}
	both.Code, both.Detail = d.err.Code, d.err.Detail
	if err := a.Print(both, g); err != nil {
		return err
	}
	keep, from := "keep the thread and rebuild the checkpoint:", ""
	if d.thread == nil {
		keep, from = "rebuild the checkpoint from another thread:", " --thread THREAD"
	}
	return kit.Exit(kit.ExitConflict, fmt.Errorf(
		"%w%s\n  %s  dormctl agents repair %q --rebuild-from-thread%s\n"+
			"  drop the checkpoint and start fresh:         dormctl agents repair %q --drop-checkpoint", d.err, kit.Facts(d.err), keep, c.Key, from, c.Key))
}
