package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"dormouse/config"
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
	restore func(ctx context.Context, c config.Config, backup string) error
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

// until runs work with a context that the first signal ends. A second signal ends the process,
// unless it follows within signalEcho. So does work that does not stop within limit and stopGrace.
func (p process) until(ctx context.Context, limit time.Duration, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()

	var asked time.Time          // when the first signal arrived
	var overdue <-chan time.Time // fires when the stop has taken too long; nil until one is requested
	for {
		select {
		case err := <-done:
			if overdue != nil && errors.Is(err, context.Canceled) {
				return nil // the error only says that a stop was requested
			}
			return err
		case s := <-p.signals:
			if overdue != nil && time.Since(asked) < signalEcho {
				continue
			}
			if overdue != nil {
				p.tell("second signal (%v): ending at once; nothing acknowledged is lost", s)
				p.exit(signalCode(s))
				return fmt.Errorf("stopped by a second signal: %v", s)
			}
			p.tell("%v: stopping within %v; once more ends at once", s, limit)
			asked, overdue = time.Now(), time.After(limit+stopGrace)
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
