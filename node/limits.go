package node

import (
	"fmt"
	"math"
	"net"
	"runtime/debug"

	"dormouse/agent"
	"dormouse/config"
	"dormouse/internal/budget"
	"dormouse/internal/descriptors"
	"dormouse/internal/listener"
	"dormouse/store"
)

const (
	connectionsMax = 4096 // of each server: one address may have half of them
	// inFlightBytesMin lets one address, which may use half, have the longest answer in flight beside
	// a page of another: with less, such an answer would never fit beside the call itself.
	inFlightBytesMin = 2 * (store.AnswerBytesMax + agent.ReadBytesMax)
	inFlightBytesMax = 128 << 20
	inFlightPart     = 8 // of the memory limit
)

// inFlight returns the bytes of requests and answers that this node's servers may have in flight.
func inFlight(c config.Config) *budget.Pool {
	if c.Limits.InFlightBytes != 0 {
		return budget.New(c.Limits.InFlightBytes)
	}
	limit := debug.SetMemoryLimit(-1) // returns it
	if limit == math.MaxInt64 {
		return budget.New(inFlightBytesMax)
	}
	return budget.New(min(max(limit/inFlightPart, inFlightBytesMin), inFlightBytesMax))
}

// limitConnections bounds the connections of a listener, and keeps descriptors for the engine.
func (n *Node) limitConnections(l net.Listener) net.Listener {
	if n.o.Servers != nil { // in memory
		return listener.Limit(l, connectionsMax, nil)
	}
	return listener.Limit(l, connectionsMax, n.descriptors.Room)
}

// checkDescriptors refuses to start with too few file descriptors for the engine, the log and some
// connections.
func (n *Node) checkDescriptors() error {
	limit := descriptors.Limit()
	n.descriptors = descriptors.NewGuard()
	if limit != 0 && limit < descriptors.Least {
		err := fmt.Errorf("this process may have %d files open, and a node needs at least %d: raise \"ulimit -n\"", limit, descriptors.Least)
		return &ExitError{code: codeConfig, err: err}
	}
	n.logger.Info("file descriptors", "limit", limit)
	return nil
}
