package cluster

import (
	"context"
	"errors"
	"time"

	"dormouse/agent"
)

// drainMax bounds the wait for the entry in flight before raft is stopped.
const drainMax = 5 * time.Second

// Shutdown stops the group. It refuses further commits, hands leadership over,
// waits for the entry in flight, ends Run, closes the connections, stops Raft and
// closes the stores. ctx bounds each step. The node stays a member.
func (g *Group) Shutdown(ctx context.Context) error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil
	}
	g.closed = true
	stop, running := g.stop, g.running
	g.mu.Unlock()

	g.proposer.Close(agent.Errorf(agent.CodeUnavailable, "this node is stopping"))
	g.handover.MakeWay(ctx)
	if stop != nil {
		// Raft does not answer entries that it was about to apply when it stops, so
		// the entry in flight is given time first.
		stop()
		drained := time.NewTimer(drainMax)
		defer drained.Stop()
		select {
		case <-running:
		case <-drained.C:
		case <-ctx.Done():
		}
	}
	g.stream.StopDialing()
	stopped := g.raft.Shutdown()
	// Raft waits for the calls that it makes, and for a snapshot that it receives: both may take
	// minutes, and end with their connections.
	_ = g.guard.Close() // its only error is that Run has closed the listener
	err := stopped.Error()
	g.proposer.Abandon()
	if running != nil {
		<-running
	}
	if e := g.stores.Close(); e != nil {
		err = errors.Join(err, e)
	}
	return err
}
