package nemesis

import (
	"context"
	"errors"
	"time"

	"dormouse/internal/pause"
	"dormouse/jepsen/testbed"
)

var killing = fault{
	name: "kill", about: "kill -9 of the leader, a follower, a majority or all, again and again, and in the middle of a snapshot; then a restart",
	variants: append([]variant{
		{name: "leader", nodesMin: 1, shortest: time.Second, longest: 8 * time.Second, mends: 2 * time.Second, begin: killSome("leader")},
		{name: "follower", nodesMin: 3, shortest: time.Second, longest: 8 * time.Second, mends: 2 * time.Second, begin: killSome("follower")},
		{name: "majority", nodesMin: 3, shortest: time.Second, longest: 6 * time.Second, mends: 2 * time.Second, begin: killSome("majority")},
		{name: "all", nodesMin: 3, shortest: time.Second, longest: 6 * time.Second, mends: 2 * time.Second, begin: killSome("all")},
		{name: "again and again", nodesMin: 1, shortest: 4 * time.Second, longest: 12 * time.Second, mends: 2 * time.Second, begin: killAgain((*act).any)},
		{name: "in a snapshot", nodesMin: 1, shortest: 12 * time.Second, longest: 20 * time.Second, mends: 2 * time.Second, begin: killInSnapshot},
		{name: "while taking a snapshot over", nodesMin: 3, shortest: 15 * time.Second, longest: 25 * time.Second, mends: 2 * time.Second, begin: killInInstall},
	}, ofPrograms(
		variant{name: "a program", nodesMin: 1, shortest: 500 * time.Millisecond, longest: 8 * time.Second, mends: time.Second, begin: killSome("program")},
		variant{name: "all programs", nodesMin: 1, shortest: 500 * time.Millisecond, longest: 8 * time.Second, mends: time.Second, begin: killSome("programs")},
		variant{name: "a program, again and again", nodesMin: 1, shortest: 4 * time.Second, longest: 12 * time.Second, mends: 2 * time.Second, begin: killAgain((*act).program)},
	)...),
}

func killSome(role string) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		hosts := a.some(ctx, role)
		release, err := a.claim(ctx, hosts...)
		if err != nil {
			return nil, err
		}
		a.begins("%s", list(hosts))
		err = a.kill(hosts...)
		return a.restart(hosts, release), err
	}
}

// restart returns the undo of a fault that stopped the hosts.
func (a *act) restart(hosts []*testbed.Host, release func()) undo {
	return func(ctx context.Context) error {
		defer release()
		return a.runAll(ctx, hosts)
	}
}

// killAgain kills one process each time it has started, or while it starts.
func killAgain(one func(a *act) *testbed.Host) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) { return a.killAgain(ctx, one(a)) }
}

func (a *act) killAgain(ctx context.Context, h *testbed.Host) (undo, error) {
	release, err := a.claim(ctx, h)
	if err != nil {
		return nil, err
	}
	a.begins("%s", h.Name())
	var broken error
	stop := a.background(ctx, func(ctx context.Context) {
		for pause.For(ctx, between(a.draw, 50*time.Millisecond, 1500*time.Millisecond)) && broken == nil {
			broken = a.kill(h)
			if pause.For(ctx, between(a.draw, 0, 500*time.Millisecond)) && broken == nil {
				broken = h.Start(ctx) // "may exit" stays in effect: the next kill is near
			}
		}
	})
	return func(ctx context.Context) error {
		stop()
		if h.Running() {
			a.mustRun(h)
		}
		return errors.Join(broken, a.restart([]*testbed.Host{h}, release)(ctx))
	}, nil
}

// killInSnapshot writes until a node takes a snapshot, and kills the node meanwhile.
func killInSnapshot(ctx context.Context, a *act) (undo, error) {
	h := a.any()
	release, err := a.claim(ctx, h)
	if err != nil {
		return nil, err
	}
	a.begins("%s, once it takes a snapshot", h.Name())
	var broken error
	stop := a.background(ctx, func(ctx context.Context) {
		writing := a.background(ctx, a.flood(bulky))
		a.snapshotOf(ctx, h)
		pause.For(ctx, between(a.draw, 0, 100*time.Millisecond))
		broken = a.kill(h)
		writing()
	})
	return func(ctx context.Context) error {
		stop()
		return errors.Join(broken, a.restart([]*testbed.Host{h}, release)(ctx))
	}, nil
}

// snapshotOf waits until a host's node begins another snapshot.
func (a *act) snapshotOf(ctx context.Context, h *testbed.Host) {
	before, known := 0, false
	for {
		s, err := a.Bed.Sample(ctx, h.Name())
		switch {
		case err == nil && known && s.Snapshots > before:
			a.note("%s takes a snapshot", h.Name())
			return
		case err == nil:
			before, known = s.Snapshots, true
		}
		if !pause.For(ctx, 10*time.Millisecond) {
			a.note("%s took no snapshot in time", h.Name())
			return
		}
	}
}

// killInInstall keeps a follower down until the others have truncated the log that it
// would need. It then kills the follower while it installs their snapshot.
func killInInstall(ctx context.Context, a *act) (undo, error) {
	h := a.follower(ctx)
	release, err := a.claim(ctx, h)
	if err != nil {
		return nil, err
	}
	a.begins("%s", h.Name())
	broken := a.kill(h)
	stop := a.background(ctx, func(ctx context.Context) {
		writing := a.background(ctx, a.flood(bulky))
		// The log that the first snapshot leaves may still hold the missing entries.
		for range 3 {
			a.snapshotOf(ctx, a.leader(ctx))
		}
		writing()
		for range 3 {
			if broken != nil || ctx.Err() != nil {
				return
			}
			broken = h.Start(ctx)
			pause.For(ctx, between(a.draw, 200*time.Millisecond, 1500*time.Millisecond))
			broken = errors.Join(broken, a.kill(h))
		}
	})
	return func(ctx context.Context) error {
		stop()
		return errors.Join(broken, a.restart([]*testbed.Host{h}, release)(ctx))
	}, nil
}
