package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/internal/cli"
)

// pageFlags are the flags of every list.
type pageFlags struct {
	prefix, after string
	limit         uint64
}

func (p *pageFlags) define(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.prefix, "prefix", "", "only what begins so")
	p.defineUnprefixed(cmd)
}

// defineUnprefixed leaves --prefix out, for lists whose order is not that of
// names.
func (p *pageFlags) defineUnprefixed(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.after, "after", "", "start after this one: the last of the page before")
	cmd.Flags().Uint64Var(&p.limit, "limit", agent.ListLimitDefault, fmt.Sprintf("rows, at most %d", agent.ListLimitMax))
}

func (p *pageFlags) page() agent.Page {
	return agent.Page{Prefix: p.prefix, After: p.after, Limit: p.limit}
}

// more is the note under a page that is not the last.
func more(next string) string {
	if next == "" {
		return ""
	}
	return fmt.Sprintf("more: --after %q", next)
}

// guardFlags are the conditions of a write.
type guardFlags struct {
	cmd           *cobra.Command
	ifRevision    uint64
	ifIncarnation uint64
}

func (g *guardFlags) define(cmd *cobra.Command, revision bool) {
	g.cmd = cmd
	if revision {
		cmd.Flags().Uint64Var(&g.ifRevision, "if-revision", 0, "only at this revision; 0 means only if there is none")
	}
	cmd.Flags().Uint64Var(&g.ifIncarnation, "if-incarnation", 0, "only in this incarnation")
}

// revision is the revision that was named, if one was.
func (g *guardFlags) revision() *uint64 {
	if g.cmd.Flags().Changed("if-revision") {
		return &g.ifRevision
	}
	return nil
}

// optional is the value of a flag that was given, or nil.
func optional[T any](cmd *cobra.Command, name string, value *T) *T {
	if cmd.Flags().Changed(name) {
		return value
	}
	return nil
}

func ttlFlag(cmd *cobra.Command, ttl *time.Duration) {
	cmd.Flags().DurationVar(ttl, "ttl", 0, "expire it after so long; 0 means never")
}

func sealFlag(cmd *cobra.Command, seal *time.Duration) {
	cmd.Flags().DurationVar(seal, "seal", 0, "refuse every write to it for so long")
}

// pointerFlags name the place in a thread that a checkpoint belongs to.
type pointerFlags struct {
	cmd          *cobra.Command
	thread, head string
	rev          uint64
}

func (p *pointerFlags) define(cmd *cobra.Command) {
	p.cmd = cmd
	cmd.Flags().StringVar(&p.thread, "thread", "", "the thread that the checkpoint points to")
	cmd.Flags().Uint64Var(&p.rev, "rev", 0, "the rev of that thread that the state includes")
	cmd.Flags().StringVar(&p.head, "head", "", "the thread's head at that rev, in hex")
}

func (p *pointerFlags) pointer() (*agent.Pointer, error) {
	if p.thread == "" {
		if p.head != "" || p.cmd.Flags().Changed("rev") {
			return nil, cli.Usagef("--rev and --head are of a thread: name it with --thread")
		}
		return nil, nil
	}
	if !p.cmd.Flags().Changed("rev") {
		return nil, cli.Usagef("--thread needs --rev: the rev of the thread that the state includes")
	}
	return &agent.Pointer{Thread: p.thread, Rev: p.rev, Head: p.head}, nil
}

// pointerCell is a pointer as a table shows it.
func pointerCell(p *agent.Pointer) string {
	if p == nil {
		return "-"
	}
	return p.Thread + "@" + cli.Number(p.Rev)
}

// deletedGrid is a delete as a table shows it.
func deletedGrid(noun string, names []string, existed []bool) cli.Grid {
	var g cli.Grid
	for i, name := range names {
		did := "deleted"
		if !existed[i] {
			did = "was not there"
		}
		g.Add(noun, name, did)
	}
	return g
}
