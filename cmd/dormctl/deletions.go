package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func deletionsCommand(a *kit.App) *cobra.Command {
	return cli.Group("deletions", "Receipts of deletions by prefix", deletionsGet(a), deletionsList(a))
}

func deletionsGet(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "get DELETION", Short: "Show the receipt of a deletion by prefix", Args: cli.Exactly("DELETION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return kit.Show(a, cmd, &agent.GetDeletion{ID: args[0]}, func(d *agent.PrefixDeletion) error { return printDeletion(a, d) })
		},
	}
}

func deletionsList(a *kit.App) *cobra.Command {
	read := func(page agent.Page) agent.Read { return &agent.ListDeletions{Page: page} }
	return kit.List(a, "List the receipts of deletions by prefix, the oldest first", read, func(list *agent.DeletionList) error {
		g := cli.Grid{Head: []string{"deletion", "kind", "prefix", "index", "deleted", "removed", "complete"}, Note: kit.More(list.Next)}
		for _, d := range list.Items {
			g.Add(d.ID, string(d.Kind), prefixCell(d.Prefix), cli.Number(d.Index), cli.When(d.DeletedAt), cli.Number(d.Removed), kit.Yes(d.Complete()))
		}
		return a.Print(document.ListOf(list.Items, list.Next, document.PrefixDeletionOf), g)
	})
}

func prefixCell(prefix string) string {
	if prefix == "" {
		return "all"
	}
	return fmt.Sprintf("%q", prefix)
}

func printDeletion(a *kit.App, d *agent.PrefixDeletion) error {
	var g cli.Grid
	g.Add("deletion", d.ID)
	g.Add("kind", string(d.Kind))
	g.Add("prefix", prefixCell(d.Prefix))
	g.Add("deleted", cli.When(d.DeletedAt)+", at index "+cli.Number(d.Index))
	g.Add("removed", cli.Number(d.Removed))
	if !d.Complete() {
		g.Note = fmt.Sprintf("some rows are not removed yet, but no read returns them: deletions get %s shows when all are removed", d.ID)
	}
	return a.Print(document.PrefixDeletionOf(*d), g)
}

// prefixFlags are the flags of an rm by prefix.
type prefixFlags struct {
	op  agent.DeletePrefix
	yes bool
}

// orByPrefix adds --prefix and --all to a command that deletes what its arguments name.
func orByPrefix(a *kit.App, cmd *cobra.Command, kind agent.ChangeKind, names string) *cobra.Command {
	p := &prefixFlags{op: agent.DeletePrefix{Kind: kind}}
	cmd.Flags().StringVar(&p.op.Prefix, "prefix", "", "delete all whose name begins with this")
	cmd.Flags().BoolVar(&p.op.All, "all", false, "delete all of the scope")
	cmd.Flags().BoolVar(&p.yes, "yes", false, "with --prefix or --all: do not ask")
	cmd.Use, cmd.Args = "rm ["+names+"]", cli.Between(0, -1, names)
	cmd.Long = fmt.Sprintf(`rm deletes the named %[1]s, in one commit. With --prefix it deletes all %[1]s whose
name begins with it, and with --all every one of them, as of one index: no read
returns them afterwards. Then it shows the progress until the cluster has removed their
rows, or until the timeout. That cannot be undone: on a terminal rm asks first;
elsewhere it needs --yes.`, kind)
	cmd.Example = fmt.Sprintf("  dormctl %[1]s rm a b\n  dormctl %[1]s rm --prefix runs/2025-", kind)
	named := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch by := cmd.Flags().Changed("prefix") || p.op.All; {
		case by:
			if err := p.alone(cmd, args); err != nil {
				return err
			}
			return p.remove(a, cmd)
		case len(args) == 0:
			return cli.Usagef("nothing is named: give %s, --prefix or --all", names)
		case p.yes:
			return cli.Usagef("--yes applies to --prefix and --all only: leave it out")
		}
		return named(cmd, args)
	}
	return cmd
}

// alone returns an error if names or other flags are given too.
func (p *prefixFlags) alone(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0:
		return cli.Usagef("--prefix and --all exclude names: give one or the other")
	case p.op.All && cmd.Flags().Changed("prefix"):
		return cli.Usagef("--all excludes --prefix: give one or the other")
	case p.op.Prefix == "" && !p.op.All:
		return cli.Usagef("--prefix is empty: give one, or --all to delete all %s", p.op.Kind)
	}
	for _, name := range []string{"if-revision", "if-incarnation", "seal"} {
		if cmd.Flags().Changed(name) {
			return cli.Usagef("--%s applies to named %s only: leave it out", name, p.op.Kind)
		}
	}
	return nil
}

// remove deletes, and shows the progress until all rows are removed or the time is over.
func (p *prefixFlags) remove(a *kit.App, cmd *cobra.Command) error {
	if !p.yes {
		of := "all " + string(p.op.Kind)
		if !p.op.All {
			of += fmt.Sprintf(" whose name begins with %q", p.op.Prefix)
		}
		if err := confirm(a, "permanently delete %s in scope %q?", of, a.Scope); err != nil {
			return err
		}
	}
	return a.With(cmd, func(ctx context.Context, s kit.Store) error {
		result, err := a.Commit(ctx, s, &p.op)
		if err != nil {
			return err
		}
		receipt, err := kit.ResultOf[*agent.PrefixDeletion](result, 0)
		if err != nil {
			return err
		}
		bar := cli.NewProgress(a.Stderr, a.Terminal && !receipt.Complete(), "removing", 0, string(p.op.Kind))
		told := receipt.Removed
		bar.Add(int(told))
		receipt, _ = agent.AwaitDeletion(ctx, receipt, func(ctx context.Context) (*agent.PrefixDeletion, error) {
			now, err := kit.Find[*agent.PrefixDeletion](ctx, a, s, &agent.GetDeletion{ID: receipt.ID})
			if err == nil {
				bar.Add(int(now.Removed - told))
				told = now.Removed
			}
			return now, err
		})
		bar.End()
		return printDeletion(a, receipt) // all are deleted; only the progress of the removal may be unknown
	})
}
