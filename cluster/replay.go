package cluster

import (
	"sync/atomic"

	"dormouse/agent"
	"dormouse/cluster/raftlog"
)

// replay tracks whether a node has applied the log that it held when it
// started. After a restart the state machine is behind the log, and only a
// leader knows how much of the log is committed. Until that much is applied, a
// stale read would miss writes that this node acknowledged before the restart.
type replay struct {
	until uint64 // the last index of the log at the start
	done  atomic.Bool
}

// Replayed returns nil once this node has applied the log that it held when it
// started, less the end that a leader has removed. Before, the error has code
// unavailable. It costs one atomic load once it has returned nil.
func (g *Group) Replayed() error {
	if g.replay.done.Load() {
		return nil
	}
	until := min(g.replay.until, g.raft.LastIndex()) // a leader may have removed the end of the log
	applied := g.machine.Applied()
	if index, ok := raftlog.NewestCommand(g.stores.Logs, until, applied); ok && applied >= index {
		g.replay.done.Store(true)
		return nil
	}
	return agent.Errorf(agent.CodeUnavailable, "node %s has started again and has applied its log up to entry %d of %d: it answers no reads, stale ones included, until the leader has sent its commit index", g.o.NodeID, applied, until)
}
