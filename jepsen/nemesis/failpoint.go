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
	name: "failpoint", about: "a process ends, or waits, at a named point inside of it: in an apply, a snapshot, an install, a compaction or a handover",
	needs: []testbed.Capability{testbed.CanFailpoint}, variants: pointVariants(),
}

// pointVariants returns two variants for each point: one ends the process, one delays it.
func pointVariants() []variant {
	var all []variant
	for _, p := range failpoint.All() {
		all = append(all,
			variant{name: string(p) + " crash", nodesMin: 1, shortest: 2 * time.Second, longest: 8 * time.Second, mends: time.Second, begin: meet(p, true)},
			variant{name: string(p) + " delay", nodesMin: 1, shortest: 2 * time.Second, longest: 8 * time.Second, mends: time.Second, begin: meet(p, false)},
		)
	}
	return all
}

// meet orders that a node fails at a point, and brings the node there.
func meet(p failpoint.Point, crash bool) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		h := a.some(ctx, []string{"leader", "follower"}[a.draw.IntN(2)])[0]
		release, err := a.claim(ctx, h)
		if err != nil {
			return nil, err
		}
		order := fmt.Sprintf("%s %v", p, a.millis(5, 300))
		if crash {
			order = string(p) + " crash"
		}
		a.begins("%s: %s", h.Name(), order)
		if crash || p == failpoint.InstallReceived || p == failpoint.InstallReplaced {
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
		for n := 0; n < 8 && pause.For(ctx, 250*time.Millisecond); n++ {
		}
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
