package nemesis

import (
	"context"
	"time"

	"dormouse/internal/pause"
	"dormouse/jepsen/testbed"
	"dormouse/jepsen/testbed/disk"
)

var failing = fault{
	name: "disk", about: "disks whose sync fails, that are full, slow, or hang, the leader's also while it is cut off: the node ends itself rather than go on",
	needs: []testbed.Capability{testbed.CanDisk},
	variants: []variant{
		{name: "a sync fails once", nodesMin: 1, shortest: 2 * time.Second, longest: 6 * time.Second, mends: 2 * time.Second, begin: sicken(endsItself, func(_ *act, d *disk.Disk) { d.FailSync(true) })},
		{name: "every sync fails", nodesMin: 1, shortest: 2 * time.Second, longest: 6 * time.Second, mends: 2 * time.Second, begin: sicken(endsItself, func(_ *act, d *disk.Disk) { d.FailSync(false) })},
		{name: "full", nodesMin: 1, shortest: 3 * time.Second, longest: 10 * time.Second, mends: 2 * time.Second, begin: sicken(mayEnd, func(_ *act, d *disk.Disk) { d.Full(true) })},
		{name: "slow", nodesMin: 1, shortest: 3 * time.Second, longest: 10 * time.Second, mends: 2 * time.Second, begin: sicken(runsOn, func(a *act, d *disk.Disk) { d.Slow(a.millis(5, 500)) })},
		{name: "hangs", nodesMin: 1, shortest: 15 * time.Second, longest: 20 * time.Second, mends: 2 * time.Second, begin: sicken(endsItself, func(_ *act, d *disk.Disk) { d.Hang(true) })},
		{name: "hangs for a moment", nodesMin: 1, shortest: 500 * time.Millisecond, longest: 5 * time.Second, mends: 2 * time.Second, begin: sicken(runsOn, func(_ *act, d *disk.Disk) { d.Hang(true) })},
		{name: "a leader hangs, cut off", nodesMin: 3, shortest: 5 * time.Second, longest: 8 * time.Second, mends: 2 * time.Second, begin: forget},
	},
}

// ending is what a node does about its disk.
type ending int

const (
	runsOn     ending = iota // it must not end
	mayEnd                   // it may
	endsItself               // it must: what it could not write it must not acknowledge
)

// diskExit is how a node ends whose disk fails.
const diskExit = "exit code 8"

// sicken does something to the disk of one node, half of the time the leader's.
func sicken(expect ending, do func(a *act, d *disk.Disk)) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		h := a.some(ctx, []string{"leader", "follower"}[a.draw.IntN(2)])[0]
		release, err := a.claim(ctx, h)
		if err != nil {
			return nil, err
		}
		a.begins("%s", h.Name())
		if expect != runsOn {
			a.mayExit(h, diskExit)
		}
		do(a, h.Disk())
		return func(ctx context.Context) error {
			defer release()
			h.Disk().Heal()
			if expect != runsOn {
				a.settle(ctx, h, expect)
			}
			return a.run(ctx, h)
		}, nil
	}
}

// forget hangs what the leader writes, while what it has can be read, and cuts
// it off from the nodes, for less than makes it end itself: its raft waits for
// the disk and does not notice that the others have a new leader, while clients
// of its own still ask it. Without a network that can be cut it hangs only.
func forget(ctx context.Context, a *act) (undo, error) {
	h := a.leader(ctx)
	release, err := a.claim(ctx, h)
	if err != nil {
		return nil, err
	}
	a.begins("%s", h.Name())
	h.Disk().Slow(time.Minute)
	if a.wires != nil {
		a.cut([]string{h.Name()}, a.others(h), testbed.AllPorts)
	}
	return func(ctx context.Context) error {
		defer release()
		h.Disk().Heal()
		if a.wires != nil {
			a.wires.lift(a.N)
		}
		return a.run(ctx, h)
	}, nil
}

// settleMax is how long a node may take to end once its disk answers again:
// a process cannot end while one of its calls hangs.
const settleMax = 3 * time.Second

// settle waits for the end of a node that must end, and from then on wants it
// to run.
func (a *act) settle(ctx context.Context, h *testbed.Host, expect ending) {
	ctx, cancel := context.WithTimeout(ctx, settleMax)
	defer cancel()
	for expect == endsItself && h.Running() && pause.For(ctx, 20*time.Millisecond) {
	}
	if h.Running() {
		a.note("%s runs on", h.Name()) // it may have written nothing meanwhile
		a.mustRun(h)
	}
}
