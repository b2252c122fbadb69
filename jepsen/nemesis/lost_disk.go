package nemesis

import (
	"context"
	"errors"
	"time"

	"dormouse/agent/layout"
	"dormouse/jepsen/testbed"
	"dormouse/jepsen/testbed/disk"
)

var losing = fault{
	name: "lost-disk", about: "a node loses its data and comes back empty under its name, or a new node replaces it; or its data directory runs twice",
	variants: []variant{
		{name: "wiped", nodesMin: 3, shortest: time.Second, longest: 8 * time.Second, mends: 5 * time.Second, begin: wipe(false)},
		{name: "wiped and replaced", nodesMin: 3, shortest: time.Second, longest: 8 * time.Second, mends: 5 * time.Second, begin: wipe(true)},
		{name: "wiped at once", nodesMin: 3, shortest: 2 * time.Second, longest: 8 * time.Second, mends: 5 * time.Second, begin: wipeAtOnce},
		{name: "cloned", nodesMin: 1, shortest: 8 * time.Second, longest: 15 * time.Second, mends: 5 * time.Second, begin: clone},
	},
}

// lose reserves a member's process and one of the losses that the cluster tolerates.
// done receives the result of the repair: a failed repair counts as a loss until the
// end of the run.
func (a *act) lose(ctx context.Context) (h *testbed.Host, done func(error), err error) {
	h = a.any()
	done, err = loses(ctx, a, h)
	return h, done, err
}

// loses is lose for a host that loses its disk or its vote, and reserves the processes of others
// besides. A vote counts like a disk: without the one node and the other's data there may be no majority.
func loses(ctx context.Context, a *act, h *testbed.Host, others ...*testbed.Host) (done func(error), err error) {
	release, err := a.claim(ctx, append(others, h)...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, a.For)
	defer cancel()
	mended, err := a.holds.harm(ctx, h.Name(), (len(a.members())-1)/2)
	if err != nil {
		release()
		return nil, err
	}
	return func(err error) {
		if err == nil {
			mended()
		}
		release()
	}, nil
}

// wipe empties a dead node's disk. The node comes back under its own name, or leaves
// and a new node replaces it.
func wipe(fresh bool) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		h, done, err := a.lose(ctx)
		if err != nil {
			return nil, err
		}
		a.begins("%s", h.Name())
		err = errors.Join(a.kill(h), disk.Wipe(h.DataDir()))
		return func(ctx context.Context) error {
			err := a.refill(ctx, h, fresh)
			done(err)
			return err
		}, err
	}
}

// wipeAtOnce empties a node's disk and restarts the node before the others may have
// noticed. It is then a voter that has forgotten its votes.
func wipeAtOnce(ctx context.Context, a *act) (undo, error) {
	h, done, err := a.lose(ctx)
	if err != nil {
		return nil, err
	}
	a.begins("%s", h.Name())
	err = errors.Join(a.kill(h), disk.Wipe(h.DataDir()))
	if err == nil {
		a.mustRun(h)
		err = h.Start(ctx)
	}
	return func(ctx context.Context) error {
		err := a.refill(ctx, h, false)
		done(err)
		return err
	}, err
}

// refill waits until a node with an empty disk has caught up and votes. If fresh, the
// old node leaves first and the new one gets another name.
func (a *act) refill(ctx context.Context, h *testbed.Host, fresh bool) error {
	if fresh {
		if err := a.ask(ctx, layout.ChangeLeave, h.Node()); err != nil {
			return errors.Join(err, a.run(ctx, h)) // keep the old name then
		}
		h.Rename(a.name(h))
	}
	if err := a.run(ctx, h); err != nil {
		return err
	}
	return a.votes(ctx, h)
}

// clone starts a second node with a copy of a node's data. The second must be refused
// while the first runs: two nodes must not vote under one name.
func clone(ctx context.Context, a *act) (undo, error) {
	h := a.follower(ctx)
	release, err := a.claim(ctx, h)
	if err != nil {
		return nil, err
	}
	second, err := a.Bed.AddHost(ctx)
	if err != nil {
		release()
		return nil, err
	}
	a.begins("%s, on %s", h.Name(), second.Name())
	err = errors.Join(a.halt(ctx, h), disk.Clone(h.DataDir(), second.DataDir()), a.run(ctx, h))
	if err == nil {
		second.Rename(h.Node())
		a.mayExit(second, "exit code 7,exit code 3")
		err = second.Start(ctx)
	}
	return func(ctx context.Context) error {
		defer release()
		runs := second.Running() // it should have been refused by now
		if runs && a.serves(ctx, second) && h.Running() {
			a.broken(second, "a cloned node was let in", "%s and its clone %s both serve as node %s", h.Name(), second.Name(), h.Node())
		} else if runs {
			a.note("the clone on %s was not refused, and does not serve", second.Name())
		}
		err := errors.Join(a.kill(second), disk.Wipe(second.DataDir()))
		if runs {
			// The clone may have told the cluster that its node has moved.
			err = errors.Join(err, a.reboot(ctx, h))
		}
		return errors.Join(err, a.run(ctx, h), a.votes(ctx, h))
	}, err
}

// serves reports whether the host's node is ready within a second.
func (a *act) serves(ctx context.Context, h *testbed.Host) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return h.Ready(ctx) == nil
}
