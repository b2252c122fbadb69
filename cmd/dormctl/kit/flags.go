package kit

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/internal/cli"
)

// PageFlags are the flags of every list.
type PageFlags struct {
	Prefix, After string
	Limit         uint64
}

func (p *PageFlags) Define(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.Prefix, "prefix", "", "only what begins so")
	p.DefineUnprefixed(cmd)
}

// DefineUnprefixed leaves --prefix out, for lists whose order is not that of
// names.
func (p *PageFlags) DefineUnprefixed(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.After, "after", "", "start after this one: the last of the page before")
	cmd.Flags().Uint64Var(&p.Limit, "limit", agent.ListLimitDefault, fmt.Sprintf("rows, at most %d", agent.ListLimitMax))
}

func (p *PageFlags) Page() agent.Page {
	return agent.Page{Prefix: p.Prefix, After: p.After, Limit: p.Limit}
}

// More is the note under a page that is not the last.
func More(next string) string {
	if next == "" {
		return ""
	}
	return fmt.Sprintf("more: --after %q", next)
}

// GuardFlags are the conditions of a write.
type GuardFlags struct {
	cmd           *cobra.Command
	ifRevision    uint64
	IfIncarnation uint64
}

func (g *GuardFlags) Define(cmd *cobra.Command, revision bool) {
	g.cmd = cmd
	if revision {
		cmd.Flags().Uint64Var(&g.ifRevision, "if-revision", 0, "only at this revision; 0 means only if there is none")
	}
	cmd.Flags().Uint64Var(&g.IfIncarnation, "if-incarnation", 0, "only in this incarnation")
}

// Revision is the revision that was named, if one was.
func (g *GuardFlags) Revision() *uint64 {
	if g.cmd.Flags().Changed("if-revision") {
		return &g.ifRevision
	}
	return nil
}

// Optional is the value of a flag that was given, or nil.
func Optional[T any](cmd *cobra.Command, name string, value *T) *T {
	if cmd.Flags().Changed(name) {
		return value
	}
	return nil
}

func TtlFlag(cmd *cobra.Command, ttl *time.Duration) {
	cmd.Flags().DurationVar(ttl, "ttl", 0, "expire it after so long; 0 means never")
}

func SealFlag(cmd *cobra.Command, seal *time.Duration) {
	cmd.Flags().DurationVar(seal, "seal", 0, "refuse every write to it for so long")
}

// PointerFlags name the place in a thread that a checkpoint belongs to.
type PointerFlags struct {
	cmd          *cobra.Command
	thread, head string
	rev          uint64
}

func (p *PointerFlags) Define(cmd *cobra.Command) {
	p.cmd = cmd
	cmd.Flags().StringVar(&p.thread, "thread", "", "the thread that the checkpoint points to")
	cmd.Flags().Uint64Var(&p.rev, "rev", 0, "the rev of that thread that the state includes")
	cmd.Flags().StringVar(&p.head, "head", "", "the thread's head at that rev, in hex")
}

func (p *PointerFlags) Pointer() (*agent.Pointer, error) {
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

// PointerCell is a pointer as a table shows it.
func PointerCell(p *agent.Pointer) string {
	if p == nil {
		return "-"
	}
	return p.Thread + "@" + cli.Number(p.Rev)
}

// DeletedGrid is a delete as a table shows it.
func DeletedGrid(noun string, names []string, existed []bool) cli.Grid {
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
