package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/agent/replay"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func sessionsReplay(a *kit.App) *cobra.Command {
	var tail uint64
	cmd := &cobra.Command{
		Use: "replay SESSION", Short: "Show the history of a session as one timeline", Args: cli.Exactly("SESSION"),
		Long: `replay shows a session as one timeline: its requests, the entries of its thread,
snapshots, reviews and checkpoints. It executes nothing.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				ask := func(reads ...agent.Read) (agent.Answers, error) { return a.Read(ctx, s, reads...) }
				told, err := replay.Read(ask, args[0], tail, 0)
				if err != nil {
					return err
				}
				return a.Print(document.ReplayedOf(told), replayGrid(told))
			})
		},
	}
	cmd.Flags().Uint64Var(&tail, "tail", 0, "show only this many of the thread's last entries; 0 means all")
	return cmd
}

// replayGrid is the timeline for people, and below it how the session stands.
func replayGrid(r *replay.Replay) cli.Grid {
	g := cli.Grid{Head: []string{"at", "seq", "event", "by", "content"}}
	for _, e := range r.Timeline {
		seq := "-"
		if e.Seq != nil {
			seq = cli.Number(*e.Seq)
		}
		what, who, said := eventCells(e)
		g.Add(cli.When(e.At), seq, what, cli.OrDash(who), said)
	}
	note := fmt.Sprintf("session %s of agent %s is %s, at revision %d", r.Session.ID, r.Session.Agent, statusCell(r.Session.SessionRow), r.Session.Revision)
	if r.FromSeq > 0 {
		note += fmt.Sprintf("; what came before seq %d is left out", r.FromSeq)
	}
	if r.Session.Result != nil {
		note += "; result " + cli.Short(r.Session.Result)
	}
	if r.Session.Failure != nil {
		note += "; error " + cli.Short(r.Session.Failure)
	}
	g.Note = note
	return g
}

// eventCells say in words what happened.
func eventCells(e replay.Event) (what, who, said string) {
	what, who = strings.ReplaceAll(string(e.What), "_", " "), e.By
	switch e.What {
	case replay.Requested, replay.Queued:
		said = e.ID + ": " + plainText(e.Data)
		if e.Status != "" {
			said += " (" + e.Status + ")"
		}
	case replay.Entry:
		role, content := message(e.Data)
		what, who, said = e.Name, role, content
		if e.Operation != "" {
			what += " " + e.Operation
		}
	case replay.Asked:
		said = fmt.Sprintf("%s: may it call %s with %s?", e.ID, cli.OrDash(e.Operation), kit.Object(e.Data))
	case replay.Escalated:
		said = e.ID + " goes to " + cli.OrDash(e.By)
	case replay.Decided:
		said = e.Effect + " is " + e.Status
	case replay.Checkpoint:
		said = fmt.Sprintf("%s at revision %d %s", e.ID, e.Revision, e.Status)
	case replay.Snapshot:
		said = e.ID + " at " + e.Status
	case replay.Forked:
		said = fmt.Sprintf("from %s at revision %d", e.ID, e.Revision)
	case replay.Leased, replay.Created:
		said = e.ID
	}
	return what, who, strings.TrimSpace(said)
}

// message is who says what in a payload: its role and content where it has
// them, else all of it.
func message(payload agent.JSON) (role, content string) {
	var m struct {
		Role    jsontext.Value `json:"role"`
		Content jsontext.Value `json:"content"`
	}
	if err := json.Unmarshal(payload, &m); err != nil || m.Content.Kind() != '"' {
		return "", string(payload)
	}
	if m.Role.Kind() == '"' {
		role = plainText(agent.JSON(m.Role))
	}
	return role, plainText(agent.JSON(m.Content))
}

// plainText returns JSON as text for people: a string without its quotes.
func plainText(raw agent.JSON) string {
	if jsontext.Value(raw).Kind() == '"' {
		if text, err := jsontext.AppendUnquote(nil, raw); err == nil {
			return string(text)
		}
	}
	return string(raw)
}
