package nemesis

import (
	"context"
	"errors"
	"time"

	"dormouse/agent/layout"
	"dormouse/internal/pause"
	"dormouse/jepsen/testbed"
)

// hangApart hangs the leader's writes, but not its reads, and cuts it off from the nodes, for
// less time than makes it end itself. If it writes its entries before it sends them
// (raft.leader_write), its Raft waits for the disk and does not notice that there is a
// new leader, while its own clients still send it requests. The network is healed before the
// disk, so that the others can tell it. If idle, a node that does not vote is on its side.
// If the network cannot be cut, the fault only hangs the writes.
func hangApart(idle bool) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		side, promote, err := aside(ctx, a, idle)
		if err != nil {
			return nil, err
		}
		leader := side[0]
		release, err := a.claim(ctx, leader)
		if err != nil {
			return nil, errors.Join(err, promote(ctx))
		}
		a.begins("%s", list(side))
		leader.Disk().Slow(time.Minute)
		a.cut(names(side), names(a.except(side...)), testbed.AllPorts)
		return func(ctx context.Context) error {
			defer release()
			a.wires.remove(a.N)
			pause.For(ctx, a.millis(3000, 4500)) // connections that lost packets come back late
			leader.Disk().Heal()
			return errors.Join(a.run(ctx, leader), promote(ctx))
		}, nil
	}
}

// aside returns the leader and, if idle, a follower that it demotes for that. promote makes the
// follower a voter again.
func aside(ctx context.Context, a *act, idle bool) (side []*testbed.Host, promote undo, err error) {
	if !idle {
		return []*testbed.Host{a.leader(ctx)}, func(context.Context) error { return nil }, nil
	}
	h := a.follower(ctx)
	done, err := loses(ctx, a, h)
	if err != nil {
		return nil, nil, err
	}
	promote = promoted(a, h, done)
	if err := a.ask(ctx, layout.ChangeDemote, h.Node()); err != nil {
		return nil, nil, errors.Join(err, promote(ctx))
	}
	return []*testbed.Host{a.leader(ctx), h}, promote, nil
}

// hangPaused hangs the leader's writes and pauses its process for 2 to 3 s, in which the others
// elect another leader with the timing lan. Then it runs on: if it writes its entries before it
// sends them, its Raft waits for the disk, and does not hear of the new one. Its connections
// still work.
func hangPaused(ctx context.Context, a *act) (undo, error) {
	h := a.leader(ctx)
	release, err := a.claim(ctx, h)
	if err != nil {
		return nil, err
	}
	a.begins("%s", h.Name())
	h.Disk().Slow(time.Minute)
	pause.For(ctx, 100*time.Millisecond) // so that its Raft writes
	err = h.Pause()
	pause.For(ctx, a.millis(2000, 3000))
	err = errors.Join(err, h.Resume())
	return func(ctx context.Context) error {
		defer release()
		h.Disk().Heal()
		return a.run(ctx, h)
	}, err
}

// endUnwritten hangs the leader's disk, so that it sends entries that it has not written, and
// cuts it and some followers off from the others. Then it kills these followers and the leader,
// which alone have the entries, and starts the leader again. With the others it is a majority:
// nothing may be missing that a caller was told of.
func endUnwritten(ctx context.Context, a *act) (undo, error) {
	leader := a.leader(ctx)
	near := []*testbed.Host{leader}
	for _, h := range a.shuffled() {
		if h != leader && len(near) <= len(a.members())/2 {
			near = append(near, h)
		}
	}
	release, err := a.claim(ctx, near...)
	if err != nil {
		return nil, err
	}
	a.begins("%s, heard by %s", leader.Name(), list(near[1:]))
	a.cut(names(near), names(a.except(near...)), testbed.AllPorts)
	leader.Disk().Hang(true)
	pause.For(ctx, a.millis(300, 3000))
	err = a.kill(near...)
	leader.Disk().Heal()
	a.wires.remove(a.N)
	if err == nil {
		a.mustRun(leader)
		err = leader.Start(ctx)
	}
	return a.restart(near, release), err
}
