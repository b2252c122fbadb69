// Command node is the daemon, installed as dormoused: it reads its
// configuration, runs one node until a signal, and tells by its exit code why
// it could not.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"dormouse/node"
)

func main() {
	// Two signals matter: the first asks to stop, the second insists.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)

	os.Exit(process{
		name:    os.Args[0],
		environ: os.Environ(),
		stdout:  os.Stdout,
		stderr:  os.Stderr,
		signals: signals,
		exit:    os.Exit,
		run:     node.Run,
		restore: node.Restore,
	}.main(context.Background(), os.Args[1:]))
}
