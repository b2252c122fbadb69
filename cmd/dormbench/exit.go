package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/bench/system"
	"dormouse/internal/cli"
)

// The exit codes, which are the same as dormctl's.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitUnavailable = 5
	exitUnknown     = 6
)

const exitTable = `Exit codes:
  0  ok
  1  failed, a bar was missed (report --strict), or interrupted
  2  wrong usage
  3  not found
  4  conflict: the stored agents have changed
  5  unavailable: the system is not installed or does not answer
  6  unknown: a write may or may not have been applied
`

// exitCode returns the exit code for err.
func exitCode(err error) int {
	var usage *cli.UsageError
	var absent *system.AbsentError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &absent):
		return exitUnavailable
	case errors.Is(err, context.Canceled):
		return exitFailed
	}
	switch agent.CodeOf(err) {
	case agent.CodeNotFound, agent.CodeCompacted:
		return exitNotFound
	case agent.CodeConflict, agent.CodeRevisionMismatch, agent.CodeThreadMismatch, agent.CodeMissingThread, agent.CodeDuplicateEntry:
		return exitConflict
	case agent.CodeUnavailable, agent.CodeOverloaded, agent.CodeReadOnly:
		return exitUnavailable
	case agent.CodeUnknown, agent.CodeRequestExpired:
		return exitUnknown
	default:
		return exitFailed
	}
}

// explain writes the error to stderr.
func (a *app) explain(err error) {
	var usage *cli.UsageError
	if errors.Is(err, context.Canceled) {
		a.tell("dormbench: interrupted")
		return
	}
	a.tell("dormbench: %v", err)
	if errors.As(err, &usage) {
		a.tell("dormbench: see --help of the command")
	}
}

// tell writes a line to stderr. It ignores write errors, because there is no other
// place to report them.
func (a *app) tell(format string, args ...any) {
	_, _ = fmt.Fprintln(a.stderr, strings.TrimSuffix(fmt.Sprintf(format, args...), "\n"))
}
