package main

import (
	"errors"
	"fmt"

	"dormouse/internal/cli"
	"dormouse/jepsen/check"
)

// The exit codes.
const (
	exitOK          = 0
	exitViolation   = 1
	exitUsage       = 2
	exitUnknown     = 3
	exitFailed      = 4
	exitInterrupted = 130
)

const exitTable = `Exit codes:
    0  ok: every promise held
    1  violation: one was broken (of several runs: in one of them)
    2  wrong usage
    3  unknown: the check could not decide, or not everything was run
    4  could not run, or could not write what it came to
  130  interrupted, and no violation in what had happened by then
`

// verdictError is a run that was made and is not ok. All about it has been
// printed.
type verdictError struct {
	verdict     check.Verdict
	interrupted bool
}

func (e *verdictError) Error() string { return fmt.Sprintf("the verdict is %s", e.verdict) }

// verdict is how a command ends whose runs came to v.
func verdict(v check.Verdict, interrupted bool) error {
	if v == check.OK && !interrupted {
		return nil
	}
	return &verdictError{v, interrupted}
}

// exitCode is how err ends the process.
func exitCode(err error) int {
	var usage *cli.UsageError
	var judged *verdictError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitUsage
	case !errors.As(err, &judged):
		return exitFailed
	case judged.verdict == check.Violation:
		return exitViolation
	case judged.interrupted:
		return exitInterrupted
	default:
		return exitUnknown
	}
}

// explain writes what went wrong, where that has not been printed already.
func (a *app) explain(err error) {
	var usage *cli.UsageError
	var judged *verdictError
	switch {
	case err == nil || errors.As(err, &judged):
	case errors.As(err, &usage):
		a.tell("dormjepsen: %v\ndormjepsen: see --help of the command", err)
	default:
		a.tell("dormjepsen: %v", err)
	}
}
