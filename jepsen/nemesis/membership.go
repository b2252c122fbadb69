package nemesis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"dormouse/agent/layout"
	"dormouse/internal/pause"
	"dormouse/jepsen/testbed"
	"dormouse/jepsen/testbed/disk"
)

var changing = fault{
	name: "membership", about: "nodes join, leave, are demoted, promoted and replaced, several at once, the leader too; one that left comes back and must be refused",
	variants: []variant{
		{name: "join, then leave", nodesMin: 1, shortest: 4 * time.Second, longest: 12 * time.Second, mends: 7 * time.Second, begin: joinLeave},
		{name: "demote, then promote", nodesMin: 3, shortest: 2 * time.Second, longest: 8 * time.Second, mends: 7 * time.Second, begin: demotePromote("follower")},
		{name: "demote the leader, then promote", nodesMin: 3, shortest: 2 * time.Second, longest: 8 * time.Second, mends: 7 * time.Second, begin: demotePromote("leader")},
		{name: "replace", nodesMin: 1, shortest: 4 * time.Second, longest: 12 * time.Second, mends: 7 * time.Second, begin: replace},
		{name: "remove the leader", nodesMin: 3, shortest: 2 * time.Second, longest: 8 * time.Second, mends: 7 * time.Second, begin: remove("leader")},
		{name: "a removed node returns", nodesMin: 3, shortest: 4 * time.Second, longest: 10 * time.Second, mends: 7 * time.Second, begin: removedReturns},
		{name: "two join, one leaves and comes back", nodesMin: 3, shortest: 8 * time.Second, longest: 20 * time.Second, mends: 15 * time.Second, begin: scale},
	},
}

// join adds a host, starts its node and waits until it votes. The step owns the host
// until release, which is nil if there is no host.
func (a *act) join(ctx context.Context) (h *testbed.Host, release func(), err error) {
	if h, err = a.Bed.AddHost(ctx); err != nil {
		return nil, nil, err
	}
	if release, err = a.holds.claim(ctx, h.Name()); err != nil {
		return nil, nil, err
	}
	a.seat(h, true)
	if err := a.run(ctx, h); err != nil {
		return h, release, fmt.Errorf("join: %w", err)
	}
	return h, release, a.votes(ctx, h)
}

// part removes a host's node from the cluster and waits until its process has ended by
// itself.
func (a *act) part(ctx context.Context, h *testbed.Host) error {
	a.mayExit(h, "exit code 7")
	if err := a.ask(ctx, layout.ChangeLeave, h.Node()); err != nil {
		if h.Running() {
			a.mustRun(h)
		}
		return err
	}
	a.seat(h, false)
	return a.dismissed(ctx, h)
}

// dismissedMax bounds the time until a removed node learns of its removal: it asks
// after some seconds without a leader.
const dismissedMax = 30 * time.Second

// dismissed waits until a removed node has ended by itself.
func (a *act) dismissed(ctx context.Context, h *testbed.Host) error {
	ctx, cancel := context.WithTimeout(ctx, dismissedMax)
	defer cancel()
	for h.Running() {
		if !pause.For(ctx, 50*time.Millisecond) {
			return errors.Join(fmt.Errorf("%s was removed, and still runs", h.Name()), a.kill(h))
		}
	}
	return nil
}

// joinLeave adds a node for a while.
func joinLeave(ctx context.Context, a *act) (undo, error) {
	a.begins("a new node")
	h, release, err := a.join(ctx)
	return func(ctx context.Context) error {
		if h == nil {
			return nil
		}
		defer release()
		return a.part(ctx, h)
	}, err
}

func demotePromote(role string) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		h := a.some(ctx, role)[0]
		done, err := loses(ctx, a, h)
		if err != nil {
			return nil, err
		}
		a.begins("%s", h.Name())
		err = a.ask(ctx, layout.ChangeDemote, h.Node())
		return promoted(a, h, done), err
	}
}

// promoted returns the undo of a demotion.
func promoted(a *act, h *testbed.Host, done func(error)) undo {
	return func(ctx context.Context) (err error) {
		defer func() { done(err) }()
		if err := a.ask(ctx, layout.ChangePromote, h.Node()); err != nil {
			return err
		}
		return a.votes(ctx, h)
	}
}

// replace adds a node and then removes an old one.
func replace(ctx context.Context, a *act) (undo, error) {
	old := a.any()
	release, err := a.claim(ctx, old)
	if err != nil {
		return nil, err
	}
	a.begins("%s", old.Name())
	fresh, joined, err := a.join(ctx)
	return func(ctx context.Context) error {
		defer release()
		if fresh == nil {
			return nil
		}
		defer joined()
		if err != nil {
			return a.part(ctx, fresh) // the cluster did not accept the new node and keeps the old one
		}
		return a.part(ctx, old)
	}, err
}

// remove removes a node, which later joins again.
func remove(role string) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		h := a.some(ctx, role)[0]
		done, err := loses(ctx, a, h)
		if err != nil {
			return nil, err
		}
		a.begins("%s", h.Name())
		err = a.part(ctx, h)
		return func(ctx context.Context) error {
			err := a.rejoin(ctx, h)
			done(err)
			return err
		}, err
	}
}

// rejoin starts the host's node with an empty disk and a new name, unless it is still
// a member, and waits until it votes.
func (a *act) rejoin(ctx context.Context, h *testbed.Host) error {
	if !a.member(h) {
		if err := errors.Join(a.kill(h), disk.Wipe(h.DataDir())); err != nil {
			return err
		}
		h.Rename(a.name(h))
		a.seat(h, true)
	}
	if err := a.run(ctx, h); err != nil {
		return err
	}
	return a.votes(ctx, h)
}

// removedReturns starts a removed node on its old data. The node must be refused and
// end.
func removedReturns(ctx context.Context, a *act) (undo, error) {
	h := a.follower(ctx)
	done, err := loses(ctx, a, h)
	if err != nil {
		return nil, err
	}
	a.begins("%s", h.Name())
	err = a.part(ctx, h)
	return func(ctx context.Context) error {
		if !a.member(h) {
			a.returns(ctx, h)
		}
		err := a.rejoin(ctx, h)
		done(err)
		return err
	}, err
}

// returns starts a removed node and records a violation if it is let in.
func (a *act) returns(ctx context.Context, h *testbed.Host) {
	a.mayExit(h, "exit code 7")
	if err := h.Start(ctx); err != nil {
		a.note("the removed node was not started: %v", err)
		return
	}
	if err := a.dismissed(ctx, h); err != nil {
		a.broken(h, "a removed node returned", "%v", err)
	}
}

// scale adds two nodes while an old one, perhaps the leader, leaves and rejoins under
// another name. So the cluster grows, and shrinks again at the end.
func scale(ctx context.Context, a *act) (undo, error) {
	old := a.any()
	done, err := loses(ctx, a, old)
	if err != nil {
		return nil, err
	}
	a.begins("two new nodes, and %s", old.Name())
	var fresh [2]*testbed.Host
	var joined [2]func()
	var errs [3]error
	atOnce(len(errs), func(i int) {
		if i == len(fresh) {
			errs[i] = a.part(ctx, old)
			return
		}
		fresh[i], joined[i], errs[i] = a.join(ctx)
	})
	return func(ctx context.Context) error {
		err := a.rejoin(ctx, old)
		done(err)
		var parted [2]error
		atOnce(len(fresh), func(i int) {
			if joined[i] != nil {
				defer joined[i]()
				parted[i] = a.part(ctx, fresh[i])
			}
		})
		return errors.Join(err, parted[0], parted[1])
	}, errors.Join(errs[:]...)
}

// atOnce calls do n times in parallel and waits for all.
func atOnce(n int, do func(i int)) {
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { do(i) })
	}
	wait.Wait()
}
