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

// process is the daemon's surroundings, so that tests can be its operating
// system.
type process struct {
	name           string   // as the daemon was called
	environ        []string // KEY=value
	stdout, stderr io.Writer
	signals        <-chan os.Signal // SIGINT and SIGTERM
	exit           func(code int)   // ends the process at once

	// run is one node until ctx ends, then its orderly stop.
	run func(ctx context.Context, c config.Config) error
	// restore founds a new cluster in c's data directory from a backup.
	restore func(ctx context.Context, c config.Config, backup string) error
}

// stopGrace is how much longer than its own deadline an orderly stop may take
// before the process ends without it.
const stopGrace = 5 * time.Second

// signalEcho is how soon after the first signal another one is still the same:
// supervisors signal the process and then its group.
const signalEcho = 200 * time.Millisecond

// main does what args say and returns the exit code.
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

// tell writes a line for the operator. Where that cannot be done there is
// nobody to tell it to either.
func (p process) tell(format string, args ...any) {
	_, _ = fmt.Fprintf(p.stderr, "dormoused: "+format+"\n", args...)
}

// until runs work with a context that the first signal ends. A second signal
// ends the process, unless it is but an echo, as does work that does not stop within limit and stopGrace.
func (p process) until(ctx context.Context, limit time.Duration, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()

	var asked time.Time          // when the first signal came
	var overdue <-chan time.Time // fires when the stop has taken too long; nil until one is asked for
	for {
		select {
		case err := <-done:
			if overdue != nil && errors.Is(err, context.Canceled) {
				return nil // it says no more than that it was asked to stop
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
			cancel()
		case <-overdue:
			p.tell("not stopped after %v: ending at once; nothing acknowledged is lost", limit+stopGrace)
			p.exit(exitFailed)
			return fmt.Errorf("not stopped after %v", limit+stopGrace)
		}
	}
}

// signalCode is what shells call the end by a signal.
func signalCode(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return exitFailed
}
