package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
)

// drainMax bounds the wait for the entry in flight before raft is stopped.
const drainMax = 5 * time.Second

// Shutdown stops the group in order, each step bounded by ctx and by itself:
// take nothing more, hand leadership over, let what is in flight settle, end
// Run, stop raft and the stream with every connection, close the stores. The
// node stays a member.
func (g *Group) Shutdown(ctx context.Context) error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil
	}
	g.closed = true
	stop, running := g.stop, g.running
	g.mu.Unlock()

	g.proposer.close(agent.Errorf(agent.CodeUnavailable, "this node is stopping"))
	g.makeWay(ctx)
	if stop != nil {
		// Raft forgets to answer what it was about to apply when it stops, so
		// what is in flight is given time first.
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
	err := g.raft.Shutdown().Error() // closes the transport, hence the stream
	close(g.proposer.abandoned)
	if running != nil {
		<-running
	}
	if e := g.stores.Close(); e != nil {
		err = errors.Join(err, e)
	}
	return err
}

// makeWay hands leadership to another voter, if there is one and this node
// leads. It is false where this node goes on leading.
func (g *Group) makeWay(ctx context.Context) bool {
	if g.raft.State() != raft.Leader {
		return true
	}
	if len(g.otherVoters(g.o.NodeID)) == 0 {
		return false
	}
	err := g.handOver(ctx, "")
	if err == nil || g.raft.State() != raft.Leader {
		return true
	}
	g.logger.Warn("leadership was not handed over; the others will elect a leader", "error", err)
	return false
}
