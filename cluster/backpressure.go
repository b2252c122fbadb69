package cluster

import (
	"errors"
	"time"

	"github.com/hashicorp/raft"
)

const (
	// unappliedBytesMax bounds the committed entries that wait in memory for
	// the state machine. Raft's own queue is 128 batches of up to 64 entries:
	// 4 GiB with entries of 512 KiB.
	unappliedBytesMax = 64 << 20

	// holdMax is how long an AppendEntries may wait for the state machine: half
	// of the 10 s after which the leader gives the call up.
	holdMax = 5 * time.Second

	// holdEvery is how often the state machine's progress is looked at.
	holdEvery = 10 * time.Millisecond

	// heldMax bounds the calls that wait. A leader has two in flight on one
	// connection, of which we see one at a time; the rest is for those that
	// former leaders left behind.
	heldMax = 16
)

// errBusy answers a leader whose entries this node has no room for.
var errBusy = errors.New("this node's state machine is behind: try again")

// pressed tells whether too much is waiting for the state machine. Only what
// is committed counts: that gets applied without anything further from the
// leader, so to wait for it cannot last for ever. What is stored but not
// committed is on the disk, not in memory.
func (g *guard) pressed() bool {
	r := g.raft.Load()
	if r == nil || g.stores.Meter == nil {
		return false
	}
	applied := r.AppliedIndex()
	committed := max(r.CommitIndex(), applied)
	if g.stores.Applied != nil {
		applied = g.stores.Applied()
	}
	return g.stores.Meter.Between(applied, committed) > g.unappliedMax
}

// hold keeps an AppendEntries back until the state machine has caught up, or
// answers it with errBusy. It does not keep other calls waiting.
func (g *guard) hold(rpc raft.RPC) {
	if g.held.Add(1) > heldMax {
		g.held.Add(-1)
		rpc.Respond(nil, errBusy)
		return
	}
	g.work.Go(func() {
		defer g.held.Add(-1)
		tick := time.NewTicker(holdEvery)
		defer tick.Stop()
		limit := time.NewTimer(holdMax)
		defer limit.Stop()
		for g.pressed() {
			select {
			case <-tick.C:
			case <-limit.C:
				rpc.Respond(nil, errBusy)
				return
			case <-g.stop:
				rpc.Respond(nil, raft.ErrTransportShutdown)
				return
			}
		}
		g.offer(rpc)
	})
}
