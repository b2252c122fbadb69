package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"dormouse/config"
	"dormouse/node"
)

// process is the daemon's environment, so that tests can replace the operating system.
type process struct {
	name           string   // as the daemon was called
	environ        []string // KEY=value
	stdout, stderr io.Writer
	signals        <-chan os.Signal // SIGINT and SIGTERM
	exit           func(code int)   // ends the process at once
	stopping       func()           // called when a stop begins

	// run runs one node until ctx ends, then stops it in order.
	run func(ctx context.Context, c config.Config) error
	// restore founds a new cluster in c's data directory from a backup.
	restore func(ctx context.Context, c config.Config, backup string) (node.Restored, error)
}

// stopGrace is how far an orderly stop may exceed its deadline before the process exits.
const stopGrace = 5 * time.Second

// signalEcho is how soon after the first signal a second one counts as the same: supervisors signal
// the process and then its group.
const signalEcho = 200 * time.Millisecond

// main runs the command line args and returns the exit code.
func (p process) main(ctx context.Context, args []string) int {
	command := p.command()
	command.SetArgs(args)
	command.SetOut(p.stdout)
	command.SetErr(p.stderr)
	err := command.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	p.tell("%v", err)
	if hint := exitHint(err, code); hint != "" {
		p.tell("%s", hint)
	}
	return code
}

// tell writes a line for the operator. It ignores errors of writing.
func (p process) tell(format string, args ...any) {
	_, _ = fmt.Fprintf(p.stderr, "dormoused: "+format+"\n", args...)
}

// interruptedError is the error of work that a signal ended before it was done.
type interruptedError struct {
	signal os.Signal
	err    error // of the work
}

func (e *interruptedError) Error() string {
	return fmt.Sprintf("interrupted (%v): %v", e.signal, e.err)
}
func (e *interruptedError) Unwrap() error { return e.err }

// ExitCode returns the exit code that shells use for the signal.
func (e *interruptedError) ExitCode() int { return signalCode(e.signal) }

// until runs work with a context that the first signal ends. If work fails then, the error is an
// interruptedError. A second signal ends the process, unless it follows within signalEcho. So does
// work that does not stop within limit and stopGrace.
func (p process) until(ctx context.Context, limit time.Duration, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()

	var first os.Signal          // nil until it arrives
	var asked time.Time          // when the first signal arrived
	var overdue <-chan time.Time // fires when the stop has taken too long; nil until one is requested
	for {
		select {
		case err := <-done:
			if first != nil && err != nil {
				return &interruptedError{first, err}
			}
			return err
		case s := <-p.signals:
			if first != nil && time.Since(asked) < signalEcho {
				continue
			}
			if first != nil {
				p.tell("second signal (%v): ending at once; nothing acknowledged is lost", s)
				p.exit(signalCode(s))
				return fmt.Errorf("stopped by a second signal: %v", s)
			}
			p.tell("%v: stopping within %v; once more ends at once", s, limit)
			first, asked, overdue = s, time.Now(), time.After(limit+stopGrace)
			p.stopping()
			cancel()
		case <-overdue:
			p.tell("not stopped after %v: ending at once; nothing acknowledged is lost", limit+stopGrace)
			p.exit(exitFailed)
			return fmt.Errorf("not stopped after %v", limit+stopGrace)
		}
	}
}

// signalCode returns the exit code that shells use for a signal.
func signalCode(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return exitFailed
}
