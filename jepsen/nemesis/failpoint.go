package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dormouse/agent/layout"
	"dormouse/internal/failpoint"
	"dormouse/internal/pause"
	"dormouse/jepsen/testbed"
)

var failingInside = fault{
	name: "failpoint", about: "a process ends, or waits, at a named point inside of it: in an apply, a snapshot, an install, a compaction or a handover, or before it sends a call of Raft",
	needs: []testbed.Capability{testbed.CanFailpoint}, variants: pointVariants(),
}

// pointVariants returns two variants for each point, one that ends the process and one that delays
// it, and those that need a point and another fault.
func pointVariants() []variant {
	var all []variant
	for _, p := range failpoint.All() {
		v := variant{nodesMin: 1, shortest: 2 * time.Second, longest: 8 * time.Second, mends: time.Second}
		if installs(p) {
			v.nodesMin, v.shortest, v.longest = 3, 15*time.Second, 25*time.Second
		}
		crash, delay := v, v
		crash.name, crash.begin = string(p)+" crash", meet(p, true)
		delay.name, delay.begin = string(p)+" delay", meet(p, false)
		all = append(all, crash, delay)
	}
	return append(all, variant{
		name: "the leader is refused, and then hears the next one by heartbeats alone", nodesMin: 3, shortest: 1500 * time.Millisecond, longest: 4 * time.Second, begin: refuseAndDelay,
	})
}

// installs reports whether a node comes to a point only when it installs a snapshot.
func installs(p failpoint.Point) bool {
	return p == failpoint.InstallReceived || p == failpoint.InstallReplaced
}

// meet orders that a node fails at a point, and brings the node there.
func meet(p failpoint.Point, crash bool) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		role := []string{"leader", "follower"}[a.draw.IntN(2)]
		switch {
		case installs(p):
			role = "follower"
		case p == failpoint.CallSend:
			role = "leader"
		}
		h := a.some(ctx, role)[0]
		release, err := a.claim(ctx, h)
		if err != nil {
			return nil, err
		}
		order := fmt.Sprintf("%s %v", p, a.millis(5, 300))
		if crash {
			order = string(p) + " crash"
		}
		a.begins("%s: %s", h.Name(), order)
		if crash || installs(p) {
			a.mayExit(h, "killed")
		}
		err = h.Failpoint(order)
		stop := a.background(ctx, func(ctx context.Context) { lead(ctx, a, h, p) })
		return func(ctx context.Context) error {
			stop()
			err := errors.Join(err, h.Failpoint(""))
			if crash && h.Running() {
				a.note("%s did not come to %s in time", h.Name(), p)
			}
			if h.Running() {
				a.mustRun(h)
			}
			return errors.Join(err, a.restart([]*testbed.Host{h}, release)(ctx))
		}, err
	}
}

// lead brings a node to a point that calls alone may not reach.
func lead(ctx context.Context, a *act, h *testbed.Host, p failpoint.Point) {
	switch p {
	case failpoint.InstallReceived, failpoint.InstallReplaced:
		// It is away until the others have truncated the log that it would need.
		if a.kill(h) != nil {
			return
		}
		writing := a.background(ctx, a.flood(bulky))
		for range 3 {
			a.snapshotOf(ctx, a.leader(ctx))
		}
		writing()
		if ctx.Err() == nil {
			_ = h.Start(ctx) // the undo starts it otherwise
		}
	case failpoint.HandoverTransfer, failpoint.HandoverDrain, failpoint.HandoverRelease:
		// Partitions move to and from a node that restarts; a leader hands over.
		for pause.For(ctx, a.millis(200, 800)) {
			_, _ = a.operator.Change(ctx, layout.ChangeTransfer, "") // it may be refused
		}
	default:
	}
}
