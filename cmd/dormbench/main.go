// Command dormbench measures Dormouse side by side with its alternatives. It is a
// module of its own, so that the product does not depend on the client libraries of
// the other systems. Each file holds one subcommand, one driver, or code that several
// of them share.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// app is one run of dormbench: its outputs and the global flags.
type app struct {
	stdout, stderr io.Writer
	terminal       bool // stderr is a terminal: progress bars may be drawn

	output string
}

func main() {
	a := &app{stdout: os.Stdout, stderr: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd()))}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() { // the second signal ends the process, and with it all processes that it started
		<-ctx.Done()
		stop()
	}()
	os.Exit(a.main(ctx, os.Args[1:]))
}

// main runs the command in args and returns the exit code.
func (a *app) main(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	if err != nil {
		a.explain(err)
	}
	return exitCode(err)
}
