// Command dormctl is the command line for people: it asks any node of a
// cluster over gRPC, shows what comes back, and tells by its exit code how the
// call ended. One file holds one subcommand, or one noun of them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	a := &app{
		stdin:    os.Stdin,
		stdout:   os.Stdout,
		stderr:   os.Stderr,
		getenv:   os.Getenv,
		terminal: term.IsTerminal(int(os.Stderr.Fd())),
		dial:     dialClient,
		self:     self,
	}
	if out := int(os.Stdout.Fd()); term.IsTerminal(out) {
		a.size = func() (width, height int, err error) { return term.GetSize(out) }
	}
	os.Exit(a.main(ctx, os.Args[1:]))
}
