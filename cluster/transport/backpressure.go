package transport

import (
	"errors"
	"time"

	"github.com/hashicorp/raft"
)

const (
	// unappliedBytesMax bounds the committed entries that wait in memory for
	// the state machine. Raft's own queue holds 128 batches of up to 64 entries,
	// which is 4 GiB with entries of 512 KiB.
	unappliedBytesMax = 64 << 20

	// throttleMax bounds how long an AppendEntries call waits for the state
	// machine. It is half of Timeout, after which the leader gives the call up.
	throttleMax = 5 * time.Second

	// throttleInterval is the time between two looks at the state machine.
	throttleInterval = 10 * time.Millisecond

	// throttledMax bounds the calls that wait. A leader has two in flight on one
	// connection, of which the guard sees one at a time; the rest are calls that
	// earlier leaders left.
	throttledMax = 16
)

// errBusy refuses a leader's entries while the state machine is behind.
var errBusy = errors.New("this node's state machine is behind: try again")

// behind reports whether too many bytes wait for the state machine. Only
// committed entries count. They are applied without further messages from the
// leader, so the wait ends. Entries that are stored and not committed are on the
// disk, not in memory.
func (g *Guard) behind() bool {
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

// throttle delays an AppendEntries call until the state machine has caught up, or
// answers it with errBusy. It does not delay other calls.
func (g *Guard) throttle(rpc raft.RPC) {
	if g.throttled.Add(1) > throttledMax {
		g.throttled.Add(-1)
		rpc.Respond(nil, errBusy)
		return
	}
	g.work.Go(func() {
		defer g.throttled.Add(-1)
		tick := time.NewTicker(throttleInterval)
		defer tick.Stop()
		limit := time.NewTimer(throttleMax)
		defer limit.Stop()
		for g.behind() {
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
