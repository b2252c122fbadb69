package main

import (
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func memoryCommand(a *kit.App) *cobra.Command {
	return cli.Group("memory", "Memories of agents: write and search them", memoryWrite(a), memoryGet(a), memoryList(a), memoryRecall(a), memoryRemove(a))
}

func memoryWrite(a *kit.App) *cobra.Command {
	var op agent.WriteMemory
	var guard kit.GuardFlags
	var data, metadata, embedding string
	var observed instant
	cmd := &cobra.Command{
		Use: "put AGENT CONTENT", Aliases: []string{"write"}, Short: "Write a memory of an agent", Args: cli.Exactly("AGENT", "CONTENT"),
		Long: `put writes a memory. CONTENT is the text itself, @FILE, or - for stdin. Without --id,
the id is derived from the content, so equal memories have one id. A memory that is
written again becomes the most recent one.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			content, err := a.BytesArg("content", args[1])
			if err != nil {
				return err
			}
			op.Agent, op.Content = args[0], string(content)
			op.IfRevision, op.IfIncarnation, op.ObservedAt = guard.Revision(), guard.IfIncarnation, observed.at
			if op.Data, err = a.OptionalObject("data", data); err != nil {
				return err
			}
			if op.Metadata, err = a.OptionalObject("metadata", metadata); err != nil {
				return err
			}
			if op.Embedding, err = embeddingArg(a, embedding); err != nil {
				return err
			}
			return a.With(cmd, func(ctx context.Context, s kit.Store) error { return remember(ctx, a, s, &op) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&op.ID, "id", "", "its id (default: derived from the content)")
	flags.StringVar(&op.Session, "session", "", "the session that it belongs to")
	flags.StringVar(&op.Class, "class", agent.MemoryClasses[0], "episodic, semantic, procedural or working")
	flags.StringVar(&op.Kind, "kind", agent.MemoryKindDefault, "kind of the memory: any name that you choose")
	flags.StringArrayVar(&op.Tags, "tag", nil, "a tag; repeatable")
	flags.StringVar(&op.Source, "source", "", "where it comes from")
	flags.StringVar(&data, "data", "", "a JSON object, @FILE or -")
	flags.StringVar(&metadata, "metadata", "", "a JSON object, @FILE or -")
	flags.StringVar(&embedding, "embedding", "", "a JSON array of numbers, @FILE or -")
	flags.Var(&observed, "observed", "when the remembered event happened (default now)")
	kit.TTLFlag(cmd, &op.TTL)
	guard.Define(cmd, true)
	return cmd
}

func remember(ctx context.Context, a *kit.App, s kit.Store, op *agent.WriteMemory) error {
	result, err := a.Commit(ctx, s, op)
	if err != nil {
		return err
	}
	written, err := kit.ResultOf[*agent.MemoryResult](result, 0)
	if err != nil {
		return err
	}
	var g cli.Grid
	g.Add("memory", written.ID)
	g.Add("agent", written.Agent)
	g.Add("revision", cli.Number(written.Revision))
	g.Add("updated", cli.When(written.UpdatedAt))
	return a.Print(document.MemoryStampOf(written), g)
}

// embeddingArg is an argument that holds a JSON array of numbers; empty means
// absent.
func embeddingArg(a *kit.App, arg string) (embedding []float32, err error) {
	if arg == "" {
		return nil, nil
	}
	raw, err := a.BytesArg("embedding", arg)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &embedding); err != nil {
		return nil, cli.Usagef("embedding: it should be a JSON array of numbers")
	}
	return embedding, nil
}

func memoryGet(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "get AGENT ID", Short: "Show a memory", Args: cli.Exactly("AGENT", "ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return kit.Show(a, cmd, &agent.GetMemory{Agent: args[0], ID: args[1]}, func(m *agent.Memory) error {
				return a.Print(document.MemoryOf(*m), memoryGrid(m))
			})
		},
	}
}

func memoryGrid(m *agent.Memory) cli.Grid {
	var g cli.Grid
	g.Add("memory", m.ID)
	g.Add("agent", m.Agent)
	g.Add("session", cli.OrDash(m.Session))
	g.Add("class, kind", m.Class+", "+m.Kind)
	g.Add("content", cli.OrDash(m.Content))
	if len(m.Data) > 0 {
		g.Add("data", string(m.Data))
	}
	g.Add("tags", cli.Joined(m.Tags))
	g.Add("source", cli.OrDash(m.Source))
	g.Add("metadata", string(kit.Object(m.Metadata)))
	g.Add("embedding", cli.Number(len(m.Embedding))+" numbers")
	g.Add("revision", cli.Number(m.Revision))
	g.Add("observed", cli.When(m.ObservedAt))
	g.Add("updated", cli.When(m.UpdatedAt))
	g.Add("expires", cli.When(m.ExpiresAt))
	return g
}

func memoryList(a *kit.App) *cobra.Command {
	var page kit.PageFlags
	cmd := &cobra.Command{
		Use: "ls [AGENT]", Short: "List the memories of an agent by id, or of all agents, oldest write first", Args: cli.Between(0, 1, "AGENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				q := &agent.ListMemories{Page: page.Page()}
				if len(args) > 0 {
					if err := agent.ValidID("agent", args[0]); err != nil {
						return err
					}
					q.Agent = args[0]
				}
				list, err := kit.Find[*agent.MemoryList](ctx, a, s, q)
				if err != nil {
					return err
				}
				return a.Print(document.ListOf(list.Items, list.Next, document.MemoryOf), memoriesGrid(list, q.Agent == ""))
			})
		},
	}
	page.DefineOrdered(cmd)
	return cmd
}

// memoriesGrid returns a table of memories, with their agents where those differ.
func memoriesGrid(list *agent.MemoryList, ofAll bool) cli.Grid {
	g := cli.Grid{Head: []string{"memory", "session", "class", "kind", "tags", "observed", "content"}, Note: kit.More(list.Next)}
	if ofAll {
		g.Head = append([]string{"agent"}, g.Head...)
	}
	for _, m := range list.Items {
		cells := []string{m.ID, cli.OrDash(m.Session), m.Class, m.Kind, cli.Joined(m.Tags), cli.When(m.ObservedAt), memoryCell(m)}
		if ofAll {
			cells = append([]string{m.Agent}, cells...)
		}
		g.Add(cells...)
	}
	return g
}

// memoryCell is what a memory says, as a table shows it: on one line.
func memoryCell(m agent.Memory) string {
	if m.Content != "" {
		return cli.Short([]byte(strings.Join(strings.Fields(m.Content), " ")))
	}
	return cli.Short(m.Data)
}

func memoryRemove(a *kit.App) *cobra.Command {
	var guard kit.GuardFlags
	var seal time.Duration
	cmd := &cobra.Command{
		Use: "rm AGENT ID...", Short: "Delete memories, in one commit", Args: cli.Between(2, -1, "AGENT", "ID..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ops []agent.Op
			for _, id := range args[1:] {
				ops = append(ops, &agent.DeleteMemory{
					Agent: args[0], ID: id, IfRevision: guard.Revision(), IfIncarnation: guard.IfIncarnation, Seal: seal,
				})
			}
			return remove(a, cmd, "memory", args[1:], ops)
		},
	}
	guard.Define(cmd, true)
	kit.SealFlag(cmd, &seal)
	return cmd
}
