package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func agentsFork(a *kit.App) *cobra.Command {
	op := &agent.ForkAgent{}
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "fork AGENT NEW", Short: "Copy an agent: checkpoint, thread, memories and a session, in one commit",
		Args: cli.Exactly("AGENT", "NEW"),
		Long: `fork creates an agent NEW from AGENT's checkpoint, the current one or --revision, with
the thread up to the point that the checkpoint names, the agent's memories and, with
--session, one of its sessions. The new ids must be unused.`,
		Example: `  dormctl agents fork agent-1 agent-1b --thread chat-1b --revision 7`,
		RunE: func(cmd *cobra.Command, args []string) error {
			op.Agent, op.NewAgent, op.IfRevision, op.IfIncarnation = args[0], args[1], guard.Revision(), guard.IfIncarnation
			return kit.Change(a, cmd, op, func(forked *agent.ForkedAgent) error {
				return a.Print(document.ForkedAgentOf(forked), forkedGrid(forked))
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&op.NewThread, "thread", "", "the new thread's id (default NEW)")
	flags.Uint64Var(&op.Revision, "revision", 0, "from an older checkpoint that is still kept")
	flags.BoolVar(&op.WithoutMemory, "without-memory", false, "do not copy memories")
	flags.StringVar(&op.Session, "session", "", "a session to copy")
	flags.StringVar(&op.NewSession, "new-session", "", "that session's id in the fork")
	guard.Define(cmd, true)
	return cmd
}

func forkedGrid(r *agent.ForkedAgent) cli.Grid {
	var g cli.Grid
	g.Add("agent", r.Checkpoint.Key)
	if r.Thread != nil {
		g.Add("thread", r.Thread.ID+"@"+cli.Number(r.Thread.Rev))
	}
	if r.Session != nil {
		g.Add("session", r.Session.ID)
	}
	g.Add("memories", cli.Number(r.Memories))
	return g
}

func agentsErase(a *kit.App) *cobra.Command {
	op := &agent.EraseAgent{}
	var guard kit.GuardFlags
	var yes, receipt bool
	cmd := &cobra.Command{
		Use: "erase AGENT", Short: "Erase all data of an agent permanently, and show the receipt", Args: cli.Exactly("AGENT"),
		Long: `erase removes an agent's checkpoint with all revisions, their threads, its memories,
its sessions with their reviews, leases, threads and checkpoints, and the
conversations that name it. It keeps what another agent's checkpoint uses too, forks,
values, and claims that callers took. It cannot be undone: on a terminal it asks
first; elsewhere it needs --yes. --receipt shows the receipt of an earlier erasure,
and erases nothing.`,
		Example: `  dormctl agents erase agent-1 --seal 24h`,
		RunE: func(cmd *cobra.Command, args []string) error {
			op.Agent, op.IfRevision, op.IfIncarnation = args[0], guard.Revision(), guard.IfIncarnation
			if !yes && !receipt {
				if err := confirm(a, "permanently erase agent %q in scope %q?", op.Agent, a.Scope); err != nil {
					return err
				}
			}
			return a.With(cmd, func(ctx context.Context, s kit.Store) (err error) {
				var found *agent.Erasure
				if receipt {
					found, err = kit.Find[*agent.Erasure](ctx, a, s, &agent.GetErasure{Agent: op.Agent})
				} else {
					found, err = erase(ctx, a, s, op)
				}
				if err != nil {
					return err
				}
				return a.Print(document.ErasureOf(found), erasureGrid(found))
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&receipt, "receipt", false, "only show the receipt of an earlier erasure")
	kit.SealFlag(cmd, &op.Seal)
	guard.Define(cmd, true)
	return cmd
}

// erase waits until all has been cleared away, or the time is over: then the
// receipt says that it is not complete yet.
func erase(ctx context.Context, a *kit.App, s kit.Store, op *agent.EraseAgent) (*agent.Erasure, error) {
	result, err := a.Commit(ctx, s, op)
	if err != nil {
		return nil, err
	}
	receipt, err := kit.ResultOf[*agent.Erasure](result, 0)
	if err != nil {
		return nil, err
	}
	receipt, _ = agent.AwaitErasure(ctx, receipt, func(ctx context.Context) (*agent.Erasure, error) {
		return kit.Find[*agent.Erasure](ctx, a, s, &agent.GetErasure{Agent: op.Agent})
	})
	return receipt, nil // the agent is erased; only the progress of the removal may be unknown
}

// confirm asks a person, on a terminal. Anything but "yes" is a no.
func confirm(a *kit.App, format string, args ...any) error {
	if !a.Terminal {
		return cli.Usagef("this cannot be undone, and there is no terminal to ask on: give --yes to do it without a question")
	}
	if _, err := fmt.Fprintf(a.Stderr, "dormctl: "+format+" Type yes: ", args...); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	line, err := bufio.NewReader(a.Stdin).ReadString('\n')
	if strings.TrimSpace(line) != "yes" {
		if err != nil && line == "" {
			return cli.Usagef("there was no answer: nothing was done")
		}
		return cli.Usagef("the answer was not yes: nothing was done")
	}
	return nil
}

func erasureGrid(e *agent.Erasure) cli.Grid {
	var g cli.Grid
	g.Add("agent", e.Agent)
	g.Add("erased", cli.When(e.ErasedAt)+", at index "+cli.Number(e.Index))
	for _, row := range []struct {
		name string
		n    uint64
	}{
		{"checkpoints", e.Checkpoints},
		{"revisions", e.Revisions},
		{"threads", e.Threads},
		{"entries", e.Entries},
		{"memories", e.Memories},
		{"sessions", e.Sessions},
		{"reviews", e.Reviews},
		{"leases", e.Claims},
		{"timers", e.Timers},
		{"instances", e.Instances},
	} {
		g.Add(row.name, cli.Number(row.n))
	}
	if e.Conversations != nil {
		g.Add("conversations", cli.Number(*e.Conversations))
	} else {
		g.Add("conversations", "stay: not all nodes could erase them; erase the agent again once the cluster is upgraded")
	}
	g.Add("kept for others", cli.Number(e.Kept))
	if e.SealedUntil > 0 {
		g.Add("sealed until", cli.When(e.SealedUntil))
	}
	g.Add("hash", e.Hash.String())
	if !e.Complete() {
		g.Note = "some rows are not removed yet, but no read returns them: agents erase --receipt shows when all are removed"
	}
	return g
}
