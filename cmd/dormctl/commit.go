package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dormouse/agent"
)

func (a *app) commitCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "commit -f FILE", Short: "Apply a list of ops, all or nothing", Args: exactly(),
		Long: `commit applies the ops in FILE (- for stdin), all or nothing. It is the body of
POST /v1/commits:

  {"fence": {"claim": "…", "epoch": 7}?, "ops": [
    {"op": "append_thread", "thread": "t1", "expected_rev": 3, "entries": [{"kind": "message", "payload": {…}}]},
    {"op": "put_checkpoint", "key": "a1", "state": {…}, "thread": {"id": "t1", "rev": 4}}]}

Ops:` + listed(slices.Sorted(maps.Keys(opNames))) + `.
The bytes of values are in base64.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return usagef("commit needs -f FILE, or -f - for stdin")
			}
			raw, err := a.file("commit", path)
			if err != nil {
				return err
			}
			commit, err := parseCommit(raw)
			if err != nil {
				return err
			}
			return a.with(cmd, func(ctx context.Context, s store) error {
				result, err := a.submit(ctx, s, commit)
				if err != nil {
					return err
				}
				return a.printResult(result)
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

func (a *app) printResult(result agent.Result) error {
	document := struct {
		Index   uint64 `json:"index"`
		Time    int64  `json:"time"`
		Results []any  `json:"results"`
	}{result.Index, result.Time, []any{}}
	g := grid{head: []string{"op", "what", "id", "rev", "revision"}}
	for i, r := range result.Results {
		op := number(i)
		switch r := r.(type) {
		case *agent.ValueResult:
			document.Results = append(document.Results, valueWritten(r))
			g.add(op, "value", r.Key, "-", number(r.Revision))
		case *agent.CheckpointResult:
			document.Results = append(document.Results, checkpointWritten(r))
			g.add(op, "checkpoint", r.Key, "-", number(r.Revision))
		case *agent.ThreadResult:
			document.Results = append(document.Results, appendedOf(r))
			g.add(op, "thread", r.Thread.ID, number(r.Thread.Rev), "-")
		case *agent.DeleteResult:
			document.Results = append(document.Results, deletedOf(r))
			g.add(op, "deleted, existed: "+yes(r.Existed), "-", "-", "-")
		case *agent.SessionResult:
			document.Results = append(document.Results, turnedOf(r))
			g.add(op, "session, "+string(r.Session.Status), r.Session.ID, "-", number(r.Session.Revision))
		case *agent.ReviewResult:
			document.Results = append(document.Results, reviewOf(r.Review))
			g.add(op, "review, "+string(r.Review.Status), r.Review.ID, "-", "-")
		case *agent.MemoryResult:
			document.Results = append(document.Results, memoryWritten(r))
			g.add(op, "memory of "+r.Agent, r.ID, "-", number(r.Revision))
		case *agent.ForkedAgent:
			document.Results = append(document.Results, forkedOf(r))
			g.add(op, "agent", r.Checkpoint.Key, "-", number(r.Checkpoint.Revision))
		case *agent.Erasure:
			document.Results = append(document.Results, erasureOf(r))
			g.add(op, "erased, complete: "+yes(r.Complete()), r.Agent, "-", "-")
		case *agent.ConversationResult:
			document.Results = append(document.Results, conversationChangedOf(r))
			g.add(op, "conversation", r.Conversation.ID, "-", number(r.Conversation.Revision))
		case *agent.MessageResult:
			document.Results = append(document.Results, messageUpdatedDoc{Found: r.Found, Message: stampDoc(r.Message)})
			g.add(op, "message, found: "+yes(r.Found), orDash(r.Message.ID), "-", "-")
		case *agent.ScopeResult:
			document.Results = append(document.Results, scopeOf(r.Scope))
			g.add(op, "scope", r.Scope.Name, "-", "-")
		case *agent.ClaimResult:
			document.Results = append(document.Results, claimOf(r.Claim))
			g.add(op, "claim, holder: "+orDash(r.Claim.Holder), r.Claim.Name, "-", "-")
		}
	}
	return a.print(document, g)
}
