package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// UsageError is the error of an invalid command line.
type UsageError struct{ err error }

func (e *UsageError) Error() string { return e.err.Error() }

func (e *UsageError) Unwrap() error { return e.err }

// Usagef returns the error of an invalid command line.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// Exactly returns a check that requires one argument for each name.
func Exactly(names ...string) cobra.PositionalArgs {
	return Between(len(names), len(names), names...)
}

// Between returns a check that requires low to high arguments; -1 for high means no
// limit.
func Between(low, high int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= low && (high < 0 || len(args) <= high) {
			return nil
		}
		wanted := "no arguments"
		if len(names) > 0 {
			wanted = strings.Join(names, " ")
		}
		return Usagef("%s takes %s, but got %s", cmd.CommandPath(), wanted, given(args))
	}
}

func given(args []string) string {
	if len(args) == 0 {
		return "no arguments"
	}
	return fmt.Sprintf("%q", args)
}
