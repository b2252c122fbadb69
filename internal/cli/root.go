package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// The forms of output of a program whose root command Root returns.
const (
	OutputTable = "table"
	OutputJSON  = "json"
)

// Root returns the root command of a program that prints tables or JSON. Its flag
// --output sets output. Without a command it shows the help, and a wrong command, flag or
// output is a UsageError.
func Root(use, short, long string, output *string, children ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:           use,
		Short:         short,
		Long:          long,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return Usagef("there is no command %q; did you mean %s?", args[0], strings.Join(near, " or "))
			}
			return Usagef("there is no command %q", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if *output != OutputTable && *output != OutputJSON {
				return Usagef("--output is %q: use table or json", *output)
			}
			return nil
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(FlagError)
	root.PersistentFlags().StringVarP(output, "output", "o", OutputTable, "table or json")
	root.AddCommand(children...)
	return root
}
