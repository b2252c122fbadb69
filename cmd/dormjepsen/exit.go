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
    1  violation: a promise was broken (of several runs: in at least one)
    2  wrong usage
    3  unknown: a check ran out of time, or not everything was run
    4  could not run, or could not write the results
  130  interrupted, without a violation so far
`

// verdictError is returned for a run that is not ok. The details have been printed.
type verdictError struct {
	verdict     check.Verdict
	interrupted bool
}

func (e *verdictError) Error() string { return fmt.Sprintf("the verdict is %s", e.verdict) }

// verdict returns the error of a command whose runs have the verdict v, nil if it is
// ok.
func verdict(v check.Verdict, interrupted bool) error {
	if v == check.OK && !interrupted {
		return nil
	}
	return &verdictError{v, interrupted}
}

// exitCode returns the exit code for err.
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

// explain writes the error to stderr unless it has been printed.
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
