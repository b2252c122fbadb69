package main

import (
	"context"

	"github.com/coreos/go-systemd/v22/daemon"

	"dormouse/config"
	"dormouse/node"
)

// runNode runs a node, and tells systemd, where it is the supervisor (NOTIFY_SOCKET), when the
// node listens. A node listens before its cluster has a leader: the nodes that found a cluster
// wait for each other, and a unit that is starting would delay its dependants.
func runNode(ctx context.Context, c config.Config) error {
	n, err := node.Open(ctx, node.Options{Config: c, Alone: true})
	if err != nil {
		return err
	}
	tellSystemd(daemon.SdNotifyReady)
	return n.Run(ctx)
}

// tellSystemd tells systemd a state. It ignores errors: without it the node serves as well, and
// systemd's timeout for the start reports a broken socket.
func tellSystemd(state string) { _, _ = daemon.SdNotify(false, state) }
