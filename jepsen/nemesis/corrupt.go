package nemesis

import (
	"context"
	"errors"
	"time"

	"dormouse/internal/pause"
	"dormouse/jepsen/testbed"
	"dormouse/jepsen/testbed/disk"
)

var corrupting = fault{
	name: "corrupt", about: "bits flipped, files cut short, zeroed or deleted under a minority, a log that loses its end; the node's disk is emptied afterwards and the node catches up",
	variants: []variant{
		{name: "flipped bit", nodesMin: 3, shortest: 3 * time.Second, longest: 12 * time.Second, mends: 5 * time.Second, begin: damage(disk.BitFlip)},
		{name: "truncated file", nodesMin: 3, shortest: 3 * time.Second, longest: 12 * time.Second, mends: 5 * time.Second, begin: damage(disk.Truncate)},
		{name: "zeroed range", nodesMin: 3, shortest: 3 * time.Second, longest: 12 * time.Second, mends: 5 * time.Second, begin: damage(disk.ZeroRange)},
		{name: "deleted file", nodesMin: 3, shortest: 3 * time.Second, longest: 12 * time.Second, mends: 5 * time.Second, begin: damage(disk.DeleteFile)},
		{name: "the log loses its end", nodesMin: 3, shortest: 3 * time.Second, longest: 8 * time.Second, mends: 7 * time.Second, begin: loseTail},
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

// loseTail takes the end of a follower's log away, with entries that only the leader and that
// follower have, and then ends the leader. The follower was stopped as asked, so that it knows
// how long its log was: it must not vote. The undo starts the leader and empties the
// follower's disk.
func loseTail(ctx context.Context, a *act) (undo, error) {
	leader := a.leader(ctx)
	others := a.except(leader)
	if len(others) < 2 {
		return nil, errors.New("two other members are needed")
	}
	a.draw.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	lossy, late := others[0], others[1:1+(len(others)+1)/2] // a majority without late has the entries
	// All are reserved: with these two down, a removal of another node would leave no majority.
	done, err := loses(ctx, a, lossy, append([]*testbed.Host{leader}, others[1:]...)...)
	if err != nil {
		return nil, err
	}
	a.begins("%s, as %s ends", lossy.Name(), leader.Name())
	a.cut(names(late), names(a.except(late...)), testbed.AllPorts)
	pause.For(ctx, a.millis(500, 2000))
	err = shorten(ctx, a, lossy)
	err = errors.Join(err, a.kill(leader))
	a.wires.remove(a.N)
	a.mayExit(lossy, "any")
	err = errors.Join(err, lossy.Start(ctx))
	empty := a.emptied(lossy, done)
	return func(ctx context.Context) error { return errors.Join(a.run(ctx, leader), empty(ctx)) }, err
}

// shorten stops a node as asked, and takes the end of its log away.
func shorten(ctx context.Context, a *act, h *testbed.Host) error {
	if err := a.halt(ctx, h); err != nil {
		return err
	}
	did, lost, err := disk.LoseTail(h.DataDir(), a.draw)
	if lost {
		a.note("%s: %s", h.Name(), did)
	}
	return err
}
