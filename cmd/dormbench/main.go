// Command dormbench measures Dormouse side by side with the stores that people
// would pick instead. It is a module of its own, so that the peers' client
// libraries are no part of the product. One file holds one subcommand, one
// driver, or what several share.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// app is one run of dormbench: its surroundings, and what the global flags say.
type app struct {
	stdout, stderr io.Writer
	terminal       bool // stderr is one: progress may be drawn

	output string
}

func main() {
	a := &app{stdout: os.Stdout, stderr: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd()))}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() { // the second signal ends the process, and with it all that it started
		<-ctx.Done()
		stop()
	}()
	os.Exit(a.main(ctx, os.Args[1:]))
}

// main does what args say and returns the exit code.
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
