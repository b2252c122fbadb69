package main

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func memoryRecall(a *kit.App) *cobra.Command {
	var q agent.Recall
	var embedding string
	var since, until instant
	cmd := &cobra.Command{
		Use: "recall AGENT [QUERY]", Short: "Search an agent's memories, best match first", Args: cli.Between(1, 2, "AGENT", "[QUERY]"),
		Long: `recall searches an agent's memories. --mode sets how:

  recent   the last written first; QUERY is required, and has no effect
  query    by the filters below, in order of observation; takes no QUERY
  text     by the words of QUERY, best first
  vector   by --embedding, nearest first; needs no QUERY
  hybrid   by both

The default mode is recent if QUERY is given, and query otherwise.`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			q.Agent, q.Filter.Since, q.Filter.Until = args[0], since.at, until.at
			if len(args) > 1 {
				q.Query = args[1]
			}
			if q.Mode == "" && q.Query == "" {
				q.Mode = agent.ModeQuery
			}
			if q.Embedding, err = embeddingArg(a, embedding); err != nil {
				return err
			}
			return kit.Show(a, cmd, &q, func(found *agent.Recalled) error {
				return printRecalled(a, found)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&q.Mode, "mode", "", strings.Join(agent.RecallModes, ", "))
	flags.StringVar(&q.Session, "session", "", "the session to which --within refers")
	flags.StringVar(&q.Within, "within", "", "agent: memories of no session, and of --session; session: memories of --session only; all: memories of all sessions (default agent; in mode query, all)")
	flags.Uint64Var(&q.Limit, "limit", 0, "maximum memories to return; 0 means 5, in mode query 20")
	flags.StringArrayVar(&q.Filter.Classes, "class", nil, "only memories of this class; repeatable: any of them")
	flags.StringArrayVar(&q.Filter.Kinds, "kind", nil, "only memories of this kind; repeatable: any of them")
	flags.StringArrayVar(&q.Filter.TagsAny, "tag", nil, "only memories with this tag; repeatable: at least one of them")
	flags.StringArrayVar(&q.Filter.TagsAll, "with-tag", nil, "only memories with this tag; repeatable: all of them")
	flags.StringVar(&q.Filter.Contains, "contains", "", "mode query: only memories with this text; ignores case")
	flags.Var(&since, "since", "only memories observed at this time or later: RFC 3339, or Unix ms")
	flags.Var(&until, "until", "only memories observed at this time or earlier: RFC 3339, or Unix ms")
	flags.BoolVar(&q.Ascending, "oldest-first", false, "mode query: oldest observation first")
	flags.StringVar(&embedding, "embedding", "", "modes vector and hybrid: a JSON array of numbers, @FILE or -")
	return cmd
}

func printRecalled(a *kit.App, r *agent.Recalled) error {
	g := cli.Grid{Head: []string{"memory", "score", "session", "kind", "observed", "content"}}
	g.Note = "shown: " + cli.Number(len(r.Items)) + ", matches: " + cli.Number(r.Matched) + ", memories of the agent: " + cli.Number(r.Entries)
	for _, item := range r.Items {
		m := item.Memory
		g.Add(m.ID, scoreCell(item.Score), cli.OrDash(m.Session), m.Kind, cli.When(m.ObservedAt), memoryCell(m))
	}
	return a.Print(document.RecalledOf(r), g)
}

func scoreCell(score float64) string {
	if score == 0 {
		return "-"
	}
	return strconv.FormatFloat(score, 'f', 4, 64)
}

// instant is a flag that names a moment, in RFC 3339 or in Unix milliseconds.
type instant struct{ at *int64 }

func (i *instant) String() string {
	if i.at == nil {
		return ""
	}
	return cli.When(*i.at)
}

// Set implements pflag.Value.
func (i *instant) Set(text string) error {
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		i.at = &ms
		return nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return errors.New("use a time such as 2026-01-31T08:00:00Z, or Unix milliseconds")
	}
	ms := t.UnixMilli()
	i.at = &ms
	return nil
}

// Type implements pflag.Value.
func (*instant) Type() string { return "time" }
