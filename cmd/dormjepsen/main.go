// Command dormjepsen tests Dormouse's promises on real processes. It runs workloads
// against a cluster while it injects faults, records every call, and judges the
// record. Its exit code is the verdict. Each file holds one subcommand, or code that
// several of them share.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"dormouse/jepsen"
	"dormouse/jepsen/seeded"
)

func main() {
	a := &app{
		stdout:   os.Stdout,
		stderr:   os.Stderr,
		terminal: term.IsTerminal(int(os.Stderr.Fd())),
		run:      jepsen.Run,
		runCover: jepsen.RunCover,
		seeded:   seeded.Run,
		sound:    seeded.RunSound,
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go a.interruptible(cancel)
	os.Exit(a.main(ctx, os.Args[1:]))
}

// interruptible ends the run in order on the first interrupt, and exits on the second:
// the system then removes the rest.
func (a *app) interruptible(cancel context.CancelFunc) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	<-signals
	a.tell("dormjepsen: interrupted: healing, cleaning up and judging the record so far; interrupt again to end at once")
	cancel()
	<-signals
	os.Exit(exitInterrupted)
}
