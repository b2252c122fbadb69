package nemesis

import (
	"context"
	"errors"
	"time"

	"dormouse/jepsen/testbed"
	"dormouse/jepsen/testbed/disk"
)

var corrupting = fault{
	name: "corrupt", about: "bits flipped, files cut short, zeroed or deleted under a minority; the node's disk is emptied afterwards and the node catches up",
	variants: []variant{
		{name: "flipped bit", nodesMin: 3, shortest: 3 * time.Second, longest: 12 * time.Second, mends: 5 * time.Second, begin: damage(disk.BitFlip)},
		{name: "truncated file", nodesMin: 3, shortest: 3 * time.Second, longest: 12 * time.Second, mends: 5 * time.Second, begin: damage(disk.Truncate)},
		{name: "zeroed range", nodesMin: 3, shortest: 3 * time.Second, longest: 12 * time.Second, mends: 5 * time.Second, begin: damage(disk.ZeroRange)},
		{name: "deleted file", nodesMin: 3, shortest: 3 * time.Second, longest: 12 * time.Second, mends: 5 * time.Second, begin: damage(disk.DeleteFile)},
	},
}

// damage kills a node, damages its data, and starts it again. The node may refuse to
// start, end later, or serve correct data; it must not serve damaged data. The undo
// empties the disk and lets the node catch up, as an operator would.
func damage(kind disk.Kind) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		h, done, err := a.lose(ctx)
		if err != nil {
			return nil, err
		}
		a.begins("%s", h.Name())
		if err := a.kill(h); err != nil {
			return a.emptied(h, done), err
		}
		what, err := disk.Damage(h.DataDir(), kind, a.draw)
		if err != nil {
			return a.emptied(h, done), err
		}
		a.note("%s: %s", h.Name(), what)
		a.mayExit(h, "any")
		return a.emptied(h, done), h.Start(ctx)
	}
}

// emptied returns the undo of damage.
func (a *act) emptied(h *testbed.Host, done func(error)) undo {
	return func(ctx context.Context) (err error) {
		defer func() { done(err) }()
		if code, ended := h.Exit(); ended {
			a.note("%s ended with exit code %d", h.Name(), code)
		} else {
			a.note("%s ran with the damaged data", h.Name())
		}
		if err := errors.Join(a.kill(h), disk.Wipe(h.DataDir())); err != nil {
			return err
		}
		return a.refill(ctx, h, a.draw.IntN(2) == 0)
	}
}
