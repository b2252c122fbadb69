package main

import (
	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func threadsFork(a *kit.App) *cobra.Command {
	var atRev uint64
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "fork THREAD NEW", Short: "Make a new thread that shares this one's entries", Args: cli.Exactly("THREAD", "NEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeThread(a, cmd, &agent.ForkThread{
				Thread: args[0], NewThread: args[1], AtRev: kit.Optional(cmd, "at-rev", &atRev), IfIncarnation: guard.IfIncarnation,
			})
		},
	}
	cmd.Flags().Uint64Var(&atRev, "at-rev", 0, "only the entries below this rev (default all)")
	guard.Define(cmd, false)
	return cmd
}

func threadsCompact(a *kit.App) *cobra.Command {
	var before uint64
	var summary string
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "compact THREAD --before SEQ", Short: "Remove the entries below a seq; rev and head stay", Args: cli.Exactly("THREAD"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("before") {
				return cli.Usagef("compact needs --before SEQ: the first seq that stays")
			}
			op := &agent.CompactThread{Thread: args[0], BeforeSeq: before, IfIncarnation: guard.IfIncarnation}
			var err error
			if op.Summary, err = a.OptionalObject("summary", summary); err != nil {
				return err
			}
			return changeThread(a, cmd, op)
		},
	}
	cmd.Flags().Uint64Var(&before, "before", 0, "the first seq that stays")
	cmd.Flags().StringVar(&summary, "summary", "", "summary of the removed entries: a JSON object, @FILE or -")
	guard.Define(cmd, false)
	return cmd
}

func changeThread(a *kit.App, cmd *cobra.Command, op agent.Op) error {
	return kit.Change(a, cmd, op, func(changed *agent.ThreadResult) error {
		return a.Print(document.ThreadOf(changed.Thread), threadGrid(changed.Thread))
	})
}

func threadsVerify(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "verify THREAD", Short: "Recompute the hash chain over a thread's entries", Args: cli.Exactly("THREAD"),
		Long: "verify recomputes the hash chain over a thread's entries and compares it with the stored head. It fails if they differ.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return kit.Show(a, cmd, &agent.VerifyThread{Thread: args[0]}, func(found *agent.Verified) error {
				var g cli.Grid
				g.Add("thread", args[0])
				g.Add("ok", kit.Yes(found.OK))
				g.Add("rev", cli.Number(found.Rev))
				g.Add("head", found.Head.String())
				err := a.Print(document.VerifiedOf(found), g)
				if err == nil && !found.OK {
					return agent.Errorf(agent.CodeCorrupt, "thread %q does not match its head: %s", args[0], found.Why)
				}
				return err
			})
		},
	}
}
