// Command dormctl is the command-line client of a cluster. It calls any node over
// gRPC, prints the result, and reports the outcome in its exit code. One file holds one subcommand, or one noun of them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"dormouse/cmd/dormctl/kit"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	a := &kit.App{
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Getenv:   os.Getenv,
		Terminal: term.IsTerminal(int(os.Stderr.Fd())),
		Dial:     kit.DialClient,
		Self:     self,

		ConfigDir: os.UserConfigDir,
	}
	if out := int(os.Stdout.Fd()); term.IsTerminal(out) {
		a.Size = func() (width, height int, err error) { return term.GetSize(out) }
	}
	os.Exit(run(ctx, a, os.Args[1:]))
}
