package kit

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/internal/cli"
)

// PageFlags are the flags of lists.
type PageFlags struct {
	Prefix, After string
	Limit         uint64
	desc          bool
	since, until  instant
}

// Define adds the flags to cmd.
func (p *PageFlags) Define(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.Prefix, "prefix", "", "only names with this prefix")
	p.DefineUnprefixed(cmd)
}

// DefineOrdered is Define for lists in the order of names.
func (p *PageFlags) DefineOrdered(cmd *cobra.Command) {
	p.Define(cmd)
	DescFlag(cmd, &p.desc)
}

// DefineRows is DefineOrdered for lists whose rows have a time.
func (p *PageFlags) DefineRows(cmd *cobra.Command) {
	p.DefineOrdered(cmd)
	timesFlags(cmd, &p.since, &p.until, "changed")
}

// DefineUnprefixed is Define without --prefix, for lists that are not in the order of
// names.
func (p *PageFlags) DefineUnprefixed(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.After, "after", "", "start after this position: what the previous page shows for --after")
	cmd.Flags().Uint64Var(&p.Limit, "limit", agent.ListLimitDefault, fmt.Sprintf("rows, at most %d", agent.ListLimitMax))
}

// Page returns the page that the flags select.
func (p *PageFlags) Page() agent.Page {
	return agent.Page{
		Prefix: p.Prefix, After: p.After, Limit: p.Limit, Order: OrderOf(p.desc),
		Times: agent.Times{Since: p.since.ms, Until: p.until.ms},
	}
}

// More returns the note under a page that is not the last one.
func More(next string) string {
	if next == "" {
		return ""
	}
	return fmt.Sprintf("more: --after %q", next)
}

// GuardFlags are the preconditions of a write.
type GuardFlags struct {
	cmd           *cobra.Command
	ifRevision    uint64
	IfIncarnation uint64
}

// Define adds the flags to cmd; revision says whether --if-revision is one of them.
func (g *GuardFlags) Define(cmd *cobra.Command, revision bool) {
	g.cmd = cmd
	if revision {
		cmd.Flags().Uint64Var(&g.ifRevision, "if-revision", 0, "only at this revision; 0 means only if it does not exist")
	}
	cmd.Flags().Uint64Var(&g.IfIncarnation, "if-incarnation", 0, "only in this incarnation")
}

// Revision returns the value of --if-revision, or nil.
func (g *GuardFlags) Revision() *uint64 {
	if g.cmd.Flags().Changed("if-revision") {
		return &g.ifRevision
	}
	return nil
}

// Optional returns the value of a flag, or nil if the flag was not given.
func Optional[T any](cmd *cobra.Command, name string, value *T) *T {
	if cmd.Flags().Changed(name) {
		return value
	}
	return nil
}

// TTLFlag adds --ttl to cmd.
func TTLFlag(cmd *cobra.Command, ttl *time.Duration) {
	cmd.Flags().DurationVar(ttl, "ttl", 0, "expire it after this time; 0 means never")
}

// SealFlag adds --seal to cmd.
func SealFlag(cmd *cobra.Command, seal *time.Duration) {
	cmd.Flags().DurationVar(seal, "seal", 0, "refuse every write to it for this time")
}

// PointerFlags are the flags of a checkpoint's pointer into a thread.
type PointerFlags struct {
	cmd          *cobra.Command
	thread, head string
	rev          uint64
}

// Define adds the flags to cmd.
func (p *PointerFlags) Define(cmd *cobra.Command) {
	p.cmd = cmd
	cmd.Flags().StringVar(&p.thread, "thread", "", "the thread that the checkpoint points to")
	cmd.Flags().Uint64Var(&p.rev, "rev", 0, "the rev of that thread that the state includes")
	cmd.Flags().StringVar(&p.head, "head", "", "the thread's head at that rev, in hex")
}

// Pointer returns the pointer of the flags, or nil without --thread.
func (p *PointerFlags) Pointer() (*agent.Pointer, error) {
	if p.thread == "" {
		if p.head != "" || p.cmd.Flags().Changed("rev") {
			return nil, cli.Usagef("--rev and --head need --thread: name the thread")
		}
		return nil, nil
	}
	if !p.cmd.Flags().Changed("rev") {
		return nil, cli.Usagef("--thread needs --rev: the rev of the thread that the state includes")
	}
	return &agent.Pointer{Thread: p.thread, Rev: p.rev, Head: p.head}, nil
}

// PointerCell returns a pointer as text.
func PointerCell(p *agent.Pointer) string {
	if p == nil {
		return "-"
	}
	return p.Thread + "@" + cli.Number(p.Rev)
}

// DeletedGrid returns the table of a deletion.
func DeletedGrid(noun string, names []string, existed []bool) cli.Grid {
	var g cli.Grid
	for i, name := range names {
		did := "deleted"
		if !existed[i] {
			did = "did not exist"
		}
		g.Add(noun, name, did)
	}
	return g
}
