package cli

import (
	"errors"
	"strconv"
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

// FlagError returns the error of a command's flags. It suggests the flag that a
// mistyped one may mean, and says what a flag with a wrong value takes.
func FlagError(cmd *cobra.Command, err error) error {
	var wrong *pflag.InvalidValueError
	if errors.As(err, &wrong) {
		return valueError(wrong)
	}
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

// valueError returns the error of a flag whose value its type does not accept. It
// replaces the errors of Go's parsers, and keeps those of types that say what they take.
func valueError(wrong *pflag.InvalidValueError) error {
	flag, cause := wrong.GetFlag(), wrong.Unwrap()
	var number *strconv.NumError
	takes := ""
	switch kind := flag.Value.Type(); {
	case strings.HasPrefix(cause.Error(), "time: "):
		takes = "a duration, such as 30s, 5m or 1h"
	case !errors.As(cause, &number):
		return Usagef("--%s is %q: %w", flag.Name, wrong.GetValue(), cause)
	case kind == "bool":
		takes = "true or false"
	case strings.HasPrefix(kind, "uint"):
		takes = "a whole number, 0 or more"
	case strings.HasPrefix(kind, "int"):
		takes = "a whole number"
	default:
		takes = "a number"
	}
	return Usagef("--%s is %q: use %s", flag.Name, wrong.GetValue(), takes)
}

// flagNames returns the flags of a command.
func flagNames(cmd *cobra.Command) (names []string) {
	collect := func(flag *pflag.Flag) { names = append(names, flag.Name) }
	cmd.LocalFlags().VisitAll(collect)
	cmd.InheritedFlags().VisitAll(collect)
	return names
}
