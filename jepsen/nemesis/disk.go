package nemesis

import (
	"context"
	"time"

	"dormouse/internal/pause"
	"dormouse/jepsen/testbed"
	"dormouse/jepsen/testbed/disk"
)

var failing = fault{
	name: "disk", about: "failing syncs, full, slow and hanging disks, the leader's also while it is cut off; a node must end itself when it cannot write",
	needs: []testbed.Capability{testbed.CanDisk},
	variants: []variant{
		{name: "a sync fails once", nodesMin: 1, shortest: 2 * time.Second, longest: 6 * time.Second, mends: 2 * time.Second, begin: sicken(endsItself, func(_ *act, d *disk.Disk) { d.FailSync(true) })},
		{name: "every sync fails", nodesMin: 1, shortest: 2 * time.Second, longest: 6 * time.Second, mends: 2 * time.Second, begin: sicken(endsItself, func(_ *act, d *disk.Disk) { d.FailSync(false) })},
		{name: "full", nodesMin: 1, shortest: 3 * time.Second, longest: 10 * time.Second, mends: 2 * time.Second, begin: sicken(mayEnd, func(_ *act, d *disk.Disk) { d.Full(true) })},
		{name: "slow", nodesMin: 1, shortest: 3 * time.Second, longest: 10 * time.Second, mends: 2 * time.Second, begin: sicken(runsOn, func(a *act, d *disk.Disk) { d.Slow(a.millis(5, 500)) })},
		{name: "slow syncs", nodesMin: 1, shortest: 3 * time.Second, longest: 10 * time.Second, mends: 2 * time.Second, begin: sicken(runsOn, func(a *act, d *disk.Disk) { d.SlowSync(a.millis(20, 800)) })},
		{name: "hangs", nodesMin: 1, shortest: 15 * time.Second, longest: 20 * time.Second, mends: 2 * time.Second, begin: sicken(endsItself, func(_ *act, d *disk.Disk) { d.Hang(true) })},
		{name: "hangs for a moment", nodesMin: 1, shortest: 500 * time.Millisecond, longest: 5 * time.Second, mends: 2 * time.Second, begin: sicken(runsOn, func(_ *act, d *disk.Disk) { d.Hang(true) })},
		{name: "a leader hangs, cut off", nodesMin: 3, shortest: 2500 * time.Millisecond, longest: 3500 * time.Millisecond, mends: 7 * time.Second, begin: hangApart(false)},
		{name: "a leader hangs, cut off with one that does not vote", nodesMin: 4, shortest: 2500 * time.Millisecond, longest: 3500 * time.Millisecond, mends: 10 * time.Second, begin: hangApart(true)},
		{name: "a leader hangs, paused until there is another", nodesMin: 3, shortest: 2 * time.Second, longest: 5 * time.Second, mends: 4 * time.Second, begin: hangPaused},
		{name: "a leader hangs, and ends with those that heard it", nodesMin: 3, shortest: 4 * time.Second, longest: 8 * time.Second, mends: 5 * time.Second, begin: endUnwritten},
	},
}

// ending is the expected reaction of a node to the failure of its disk.
type ending int

const (
	runsOn     ending = iota // the node must not end
	mayEnd                   // the node may end
	endsItself               // the node must end, so that it acknowledges nothing that it could not write
)

// diskExit is the way in which a node ends when its disk fails.
const diskExit = "exit code 8"

// sicken makes the disk of one node fail. It chooses the leader half of the time.
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

// settleMax bounds the time in which a node ends once its disk is healed: a process
// cannot end while one of its system calls hangs.
const settleMax = 3 * time.Second

// settle waits for the end of a node that must end. From then on the node must run.
func (a *act) settle(ctx context.Context, h *testbed.Host, expect ending) {
	ctx, cancel := context.WithTimeout(ctx, settleMax)
	defer cancel()
	for expect == endsItself && h.Running() && pause.For(ctx, 20*time.Millisecond) {
	}
	if h.Running() {
		a.note("%s runs on", h.Name()) // it may have written nothing in the meantime
		a.mustRun(h)
	}
}
