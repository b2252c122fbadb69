// Command dormjepsen proves Dormouse's promises on real processes: it runs
// workloads against a cluster while faults come and go, writes down every call,
// judges what was written, and tells by its exit code what it came to. One file
// holds one subcommand, or what several share.
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

// interruptible ends the run in order on the first interrupt, and the program
// at once on the second: the system then takes down what it holds.
func (a *app) interruptible(cancel context.CancelFunc) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	<-signals
	a.tell("dormjepsen: interrupted: healing, cleaning up and judging what there is; once more to end at once")
	cancel()
	<-signals
	os.Exit(exitInterrupted)
}
