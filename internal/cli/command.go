package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Group returns a command that only has subcommands.
func Group(use, short string, children ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{
		Use:   use,
		Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			var names []string
			for _, child := range cmd.Commands() {
				names = append(names, child.Name())
			}
			if len(args) > 0 {
				if near := Suggest(cmd, args[0]); near != "" {
					return Usagef("%s has no command %q%s", cmd.CommandPath(), args[0], near)
				}
				return Usagef("%s has no command %q: use one of %s", cmd.CommandPath(), args[0], strings.Join(names, ", "))
			}
			return Usagef("%s needs one of %s", cmd.CommandPath(), strings.Join(names, ", "))
		},
	}
	command.AddCommand(children...)
	return command
}

// HideAliases removes the aliases, which are names of earlier versions, from the
// help. It sets no template: with templates the linker keeps every exported method.
func HideAliases(root *cobra.Command) {
	usage := root.UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		aliases := cmd.Aliases
		cmd.Aliases = nil
		defer func() { cmd.Aliases = aliases }()
		return usage(cmd)
	})
}

// Suggest returns the commands of a group that a mistyped one may mean.
func Suggest(cmd *cobra.Command, name string) string {
	cmd.SuggestionsMinimumDistance = suggestDistance(name)
	near := cmd.SuggestionsFor(name)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// suggestDistance is how many letters of a name may be wrong.
func suggestDistance(name string) int {
	const short = 4
	if len(name) <= short {
		return 1
	}
	return 2
}

// FlagError returns the error of a command's flags, and suggests the flag that a
// mistyped one may mean.
func FlagError(cmd *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return &UsageError{err}
	}
	// Cobra suggests commands only, so the flags are made commands.
	flags := &cobra.Command{SuggestionsMinimumDistance: suggestDistance(name)}
	for _, flag := range flagNames(cmd) {
		flags.AddCommand(&cobra.Command{Use: flag, Run: func(*cobra.Command, []string) {}})
	}
	if near := flags.SuggestionsFor(name); len(near) > 0 {
		return Usagef("%s has no flag --%s; did you mean --%s?", cmd.CommandPath(), name, strings.Join(near, " or --"))
	}
	return Usagef("%s has no flag --%s", cmd.CommandPath(), name)
}

// flagNames returns the flags of a command.
func flagNames(cmd *cobra.Command) (names []string) {
	collect := func(flag *pflag.Flag) { names = append(names, flag.Name) }
	cmd.LocalFlags().VisitAll(collect)
	cmd.InheritedFlags().VisitAll(collect)
	return names
}
