package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func sessionsCommand(a *kit.App) *cobra.Command {
	cmd := cli.Group("sessions", "Sessions: turns of conversations under leases",
		sessionsStart(a), sessionsGet(a), sessionsReplay(a), sessionsList(a), sessionsClaim(a), sessionsResume(a), sessionsRecover(a),
		sessionsCheckpoint(a), sessionsCommit(a), sessionsRenew(a), sessionsCancel(a), sessionsFork(a), sessionsSnapshot(a), sessionsRemove(a))
	cmd.Long = `A session is a conversation whose turns run under leases. claim begins a turn and
shows its lease, which expires unless it is renewed. checkpoint saves the state of
the turn, and commit ends the turn. recover takes over a turn whose lease has
expired; resume continues a turn that hibernates or waits. Other writes of a turn
use --fence session:ID@EPOCH.`
	return cmd
}

func sessionsStart(a *kit.App) *cobra.Command {
	op := &agent.PutSession{}
	var guard kit.GuardFlags
	var spec, metadata, environment string
	cmd := &cobra.Command{
		Use: "start SESSION --agent AGENT", Short: "Create a session, or with --if-revision overwrite one that has no lease", Args: cli.Exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			op.Session, op.IfRevision, op.IfIncarnation = args[0], guard.Revision(), guard.IfIncarnation
			if op.Spec, err = a.OptionalObject("spec", spec); err != nil {
				return err
			}
			if op.Metadata, err = a.OptionalObject("metadata", metadata); err != nil {
				return err
			}
			if op.Environment, err = a.OptionalObject("environment", environment); err != nil {
				return err
			}
			return changeSession(a, cmd, op)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&op.Agent, "agent", "", "the agent of the session")
	flags.StringVar(&spec, "spec", "", "a JSON object, @FILE or -")
	flags.StringVar(&metadata, "metadata", "", "a JSON object, @FILE or -")
	flags.StringVar(&environment, "environment", "", "a JSON object, @FILE or -")
	flags.StringVar((*string)(&op.Mode), "mode", "", "lease, or classic (turns have no leases) (default: lease for a new session, otherwise unchanged)")
	flags.StringVar((*string)(&op.Busy), "busy", "", "what a claim does while a turn runs: reject (the default), enqueue, interrupt or rollback")
	flags.Uint64Var(&op.QueueMax, "queue-max", 0, fmt.Sprintf("claims that may wait; 0 means %d", agent.SessionQueueDefault))
	flags.StringVar(&op.Thread, "thread", "", "thread in which decisions and rollbacks are recorded")
	flags.StringVar(&op.Checkpoint, "checkpoint", "", "checkpoint that a rollback restores")
	flags.StringVar((*string)(&op.Status), "status", "", "new, hibernated, finished, error or cancelled (default: new for a new session, otherwise unchanged)")
	guard.Define(cmd, true)
	return cmd
}

func sessionsGet(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "get SESSION", Short: "Show a session with its requests, snapshots, queue and reviews", Args: cli.Exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return kit.Show(a, cmd, &agent.GetSession{Session: args[0]}, func(found *agent.Session) error {
				return printSession(a, found)
			})
		},
	}
}

// printSession shows a session, and what it has of requests, snapshots and
// reviews in tables of their own.
func printSession(a *kit.App, s *agent.Session) error {
	g := sessionGrid(s.SessionRow)
	add := func(name, value string) {
		if value != "" && value != "{}" {
			g.Add(name, value)
		}
	}
	add("thread", s.Thread)
	add("checkpoint", s.Checkpoint)
	if l := s.Lineage; l != nil {
		g.Add("forked from", fmt.Sprintf("%s at revision %d, snapshot %s", l.Session, l.Revision, cli.OrDash(l.Snapshot)))
	}
	g.Add("conversation", fmt.Sprintf("revision %d, %d turns", s.Conversation.ContinuationRevision, s.Conversation.TurnCount))
	add("agent state", string(s.Conversation.AgentState))
	add("context state", string(s.Conversation.ContextState))
	add("spec", string(s.Spec))
	add("metadata", string(s.Metadata))
	add("environment", string(s.Environment))
	add("result", string(s.Result))
	add("error", string(s.Failure))
	if err := a.Print(document.SessionOf(s), g); err != nil || a.Output != kit.OutputTable {
		return err
	}
	requests := cli.Grid{Head: []string{"request", "owner", "at", "outcome", "input"}, Apart: true}
	for _, r := range s.Requests {
		requests.Add(r.ID, cli.OrDash(r.Owner), cli.When(r.At), cli.OrDash(string(r.Outcome)), cli.Short(r.Input))
	}
	queue := cli.Grid{Head: []string{"queued request", "owner", "at", "input"}, Apart: true}
	for _, r := range s.Queue {
		queue.Add(r.ID, cli.OrDash(r.Owner), cli.When(r.At), cli.Short(r.Input))
	}
	kept := cli.Grid{Head: []string{"snapshot", "request", "at", "phase", "loop", "turn state"}, Apart: true}
	for _, n := range s.Snapshots {
		kept.Add(n.ID, cli.OrDash(n.RequestID), cli.When(n.At), string(n.Cursor.Phase), cli.Number(n.Cursor.LoopIndex), cli.Short(n.TurnState))
	}
	for _, part := range []cli.Grid{requests, queue, kept, reviewsGrid(s.PendingReviews)} {
		if part.Apart = true; len(part.Rows) == 0 {
			continue
		}
		if err := a.PrintGrid(part); err != nil {
			return err
		}
	}
	return nil
}

// sessionGrid is a session's row as a table shows it.
func sessionGrid(r agent.SessionRow) cli.Grid {
	var g cli.Grid
	g.Add("session", r.ID)
	g.Add("status", statusCell(r))
	g.Add("agent", r.Agent)
	g.Add("revision", cli.Number(r.Revision))
	g.Add("mode", string(r.Mode))
	g.Add("busy policy", string(r.Busy))
	g.Add("request", cli.OrDash(r.RequestID))
	if l := r.Lease; l != nil {
		g.Add("lease", l.LeaseID)
		g.Add("owner", l.Owner)
		g.Add("acquired", cli.When(l.AcquiredAt))
		g.Add("expires", cli.When(l.ExpiresAt))
		g.Add("fence", fmt.Sprintf("--fence %s@%d", agent.SessionClaim(r.ID), l.Epoch))
	}
	g.Add("updated", cli.When(r.UpdatedAt))
	return g
}

func statusCell(r agent.SessionRow) string {
	if r.Recoverable {
		return string(r.Status) + " (recoverable)"
	}
	return string(r.Status)
}

func sessionsList(a *kit.App) *cobra.Command {
	var page kit.PageFlags
	list := &agent.ListSessions{}
	cmd := &cobra.Command{
		Use: "ls", Short: "List sessions: all, or those that match one filter", Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list.Page = page.Page()
			return kit.Show(a, cmd, list, func(found *agent.SessionList) error {
				g := cli.Grid{Head: []string{"session", "agent", "status", "revision", "request", "owner", "expires", "queued", "updated"}, Note: kit.More(found.Next)}
				for _, r := range found.Items {
					owner, expires := "-", "-"
					if r.Lease != nil {
						owner, expires = r.Lease.Owner, cli.When(r.Lease.ExpiresAt)
					}
					g.Add(r.ID, r.Agent, statusCell(r), cli.Number(r.Revision), cli.OrDash(r.RequestID), owner, expires, cli.Number(r.QueueLength), cli.When(r.UpdatedAt))
				}
				return a.Print(document.ListOf(found.Items, found.Next, document.SessionRowOf), g)
			})
		},
	}
	cmd.Flags().StringVar((*string)(&list.Status), "status", "", "only those of this status: new, running, hibernated, waiting, finished, error or cancelled")
	cmd.Flags().StringVar(&list.Owner, "owner", "", "only sessions leased to this owner (including expired leases)")
	cmd.Flags().StringVar(&list.Agent, "agent", "", "only those of this agent")
	cmd.Flags().BoolVar(&list.Recoverable, "recoverable", false, "only sessions that can be recovered")
	kit.WhereFlag(cmd, &list.Where)
	page.DefineRows(cmd)
	return cmd
}

func sessionsFork(a *kit.App) *cobra.Command {
	op := &agent.ForkSession{}
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "fork SESSION NEW", Short: "Copy a session that is not running to a new session", Args: cli.Exactly("SESSION", "NEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			op.Session, op.NewSession, op.IfRevision, op.IfIncarnation = args[0], args[1], guard.Revision(), guard.IfIncarnation
			return changeSession(a, cmd, op)
		},
	}
	cmd.Flags().StringVar(&op.Snapshot, "snapshot", "", "snapshot at which the new session continues (default: the newest)")
	guard.Define(cmd, true)
	return cmd
}

func sessionsRemove(a *kit.App) *cobra.Command {
	return removeCommand(a, "session", "SESSION...", "Delete sessions with their leases and reviews, in one commit", true,
		func(id string, guard kit.GuardFlags, seal time.Duration) agent.Op {
			return &agent.DeleteSession{Session: id, IfRevision: guard.Revision(), IfIncarnation: guard.IfIncarnation, Seal: seal}
		})
}

// changeSession commits an op on a session and shows the session after it.
func changeSession(a *kit.App, cmd *cobra.Command, op agent.Op) error {
	return kit.Change(a, cmd, op, func(changed *agent.SessionResult) error {
		g := sessionGrid(changed.Session)
		if r := changed.Recovery; r != nil && r.Resume != "" {
			g.Add("continues", "from snapshot "+r.Resume)
		} else if r != nil {
			g.Add("continues", "from the beginning, with request "+r.Restart)
		}
		if changed.Queued > 0 {
			g.Add("your request", fmt.Sprintf("waits, number %d in the queue", changed.Queued))
		}
		return a.Print(document.TurnedOf(changed), g)
	})
}
