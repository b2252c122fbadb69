// Command node is the daemon, installed as dormoused. It reads its configuration and runs one node
// until a signal. Its exit code tells why it could not.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/coreos/go-systemd/v22/daemon"

	"dormouse/node"
)

func main() {
	calmMonitor(os.Environ())
	syscall.Umask(0o077) // all files of the data directory are for their owner only
	// Two signals matter: the first requests a stop, the second forces it.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)

	os.Exit(process{
		name:     os.Args[0],
		environ:  os.Environ(),
		stdout:   os.Stdout,
		stderr:   os.Stderr,
		signals:  signals,
		exit:     os.Exit,
		run:      runNode,
		stopping: func() { tellSystemd(daemon.SdNotifyStopping) },
		restore:  node.Restore,
	}.main(context.Background(), os.Args[1:]))
}
