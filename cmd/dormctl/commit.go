package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func commitCommand(a *kit.App) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "commit FILE", Short: "Apply a list of ops, all or nothing", Args: cli.Between(0, 1, "FILE"),
		Long: `commit applies the ops in FILE (- for stdin), all or nothing. It is the body of
POST /v1/commits:

  {"fence": {"claim": "…", "epoch": 7}?, "ops": [
    {"op": "append_thread", "thread": "t1", "expected_rev": 3, "entries": [{"kind": "message", "payload": {…}}]},
    {"op": "put_checkpoint", "key": "a1", "state": {…}, "thread": {"id": "t1", "rev": 4}}]}

Ops:` + listed(slices.Sorted(maps.Keys(document.OpTypes()))) + `.
The bytes of values are in base64.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && path != "" {
				return cli.Usagef("FILE and --file say the same: give one")
			}
			if len(args) == 1 {
				path = args[0]
			}
			if path == "" {
				return cli.Usagef("commit needs FILE, or - for stdin")
			}
			raw, err := a.File("commit", path)
			if err != nil {
				return err
			}
			body, commit, err := parseCommit(raw)
			if err != nil {
				return err
			}
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				result, err := a.Submit(ctx, s, commit)
				if err != nil {
					return err
				}
				return printResult(a, body, result)
			})
		},
	}
	cmd.Flags().StringVarP(&path, "file", "f", "", "file with the commit, or - for stdin")
	return cmd
}

// listed is names in a help text, broken at helpWidth.
func listed(names []string) string {
	const helpWidth = 80
	var all strings.Builder
	column := len("Ops:")
	for i, name := range names {
		if i > 0 {
			all.WriteByte(',')
			column++
		}
		before := " "
		if column += 1 + len(name); column >= helpWidth {
			before, column = "\n", len(name)
		}
		all.WriteString(before + name)
	}
	return all.String()
}

// parseCommit reads the body of POST /v1/commits.
func parseCommit(raw []byte) (*document.CommitBody, agent.Commit, error) {
	var body document.CommitBody
	if err := document.Decode(raw, &body, "the document"); err != nil {
		return nil, agent.Commit{}, kit.BadDocument("commit", err)
	}
	if len(body.Ops) == 0 {
		return nil, agent.Commit{}, cli.Usagef("commit: there are no ops in it")
	}
	ops, err := body.ToOps()
	if err != nil {
		return nil, agent.Commit{}, kit.BadDocument("commit", err)
	}
	return &body, agent.Commit{Fence: body.Fence.ToAgent(), Ops: ops}, nil
}

func printResult(a *kit.App, body *document.CommitBody, result agent.Result) error {
	committed, err := body.Committed(result)
	if err != nil {
		return err
	}
	g := cli.Grid{Head: []string{"op", "result", "id", "rev", "revision"}}
	for i, r := range result.Results {
		g.Add(append([]string{cli.Number(i)}, resultRow(r)...)...)
	}
	return a.Print(committed, g)
}

// resultRow says on a line what came of an op: what, id, rev, revision.
func resultRow(result agent.OpResult) []string {
	switch r := result.(type) {
	case *agent.ValueResult:
		return []string{"value", r.Key, "-", cli.Number(r.Revision)}
	case *agent.CheckpointResult:
		return []string{"checkpoint", r.Key, "-", cli.Number(r.Revision)}
	case *agent.ThreadResult:
		return []string{"thread", r.Thread.ID, cli.Number(r.Thread.Rev), "-"}
	case *agent.DeleteResult:
		return []string{"deleted, existed: " + kit.Yes(r.Existed), "-", "-", "-"}
	case *agent.SessionResult:
		return []string{"session, " + string(r.Session.Status), r.Session.ID, "-", cli.Number(r.Session.Revision)}
	case *agent.ReviewResult:
		return []string{"review, " + string(r.Review.Status), r.Review.ID, "-", "-"}
	case *agent.MemoryResult:
		return []string{"memory of " + r.Agent, r.ID, "-", cli.Number(r.Revision)}
	case *agent.ForkedAgent:
		return []string{"agent", r.Checkpoint.Key, "-", cli.Number(r.Checkpoint.Revision)}
	case *agent.Erasure:
		return []string{"erased, complete: " + kit.Yes(r.Complete()), r.Agent, "-", "-"}
	case *agent.PrefixDeletion:
		return []string{"deleted " + string(r.Kind) + ", complete: " + kit.Yes(r.Complete()), r.ID, "-", "-"}
	case *agent.ConversationResult:
		return []string{"conversation", r.Conversation.ID, "-", cli.Number(r.Conversation.Revision)}
	case *agent.MessageResult:
		return []string{"message, found: " + kit.Yes(r.Found), cli.OrDash(r.Message.ID), "-", "-"}
	case *agent.ScopeResult:
		return []string{"scope", r.Scope.Name, "-", "-"}
	case *agent.ClaimResult:
		return []string{"claim, holder: " + cli.OrDash(r.Claim.Holder), r.Claim.Name, "-", "-"}
	case *agent.ManagerResult:
		return []string{"manager", r.Manager.Name, "-", cli.Number(r.Manager.Revision)}
	case *agent.TimerResult:
		return []string{"timer, next: " + whenOrNever(r.Timer.Next), cli.OrDash(r.Timer.ID), "-", "-"}
	case *agent.TokenResult:
		return []string{"token of " + r.Token.Principal, r.Token.ID, "-", "-"}
	default:
		return []string{"-", "-", "-", "-"} // of an op that callers do not have
	}
}
