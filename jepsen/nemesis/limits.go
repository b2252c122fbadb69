package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dormouse/jepsen/testbed"
)

var starving = fault{
	name: "limits", about: "a process runs out of descriptors, or out of memory, which may end it",
	needs: []testbed.Capability{testbed.CanLimit},
	variants: []variant{
		{name: "no descriptor is left", nodesMin: 1, shortest: 3 * time.Second, longest: 10 * time.Second, mends: 2 * time.Second, begin: starve("", func(*act) (int, int64) { return 0, -1 })},
		{name: "few descriptors are left", nodesMin: 1, shortest: 3 * time.Second, longest: 10 * time.Second, mends: 2 * time.Second, begin: starve("", func(a *act) (int, int64) { return 1 + a.draw.IntN(8), -1 })},
		{name: "no memory is left", nodesMin: 1, shortest: 3 * time.Second, longest: 10 * time.Second, mends: 2 * time.Second, begin: starve("any", func(a *act) (int, int64) { return -1, int64(a.draw.IntN(64)) << 20 })},
		{name: "a cgroup leaves it little memory", nodesMin: 1, shortest: 3 * time.Second, longest: 10 * time.Second, mends: 2 * time.Second, begin: confine(false, func(a *act) int64 { return 64 << a.draw.IntN(7) })},
		{name: "restarts in a cgroup of little memory", nodesMin: 1, shortest: 5 * time.Second, longest: 10 * time.Second, mends: 3 * time.Second, begin: confine(true, func(a *act) int64 { return (12 + a.draw.Int64N(52)) << 10 })},
	},
}

// confine bounds the memory of one node by a control group. kib draws the bound: what the running process may use beyond
// what it uses now or, if the node restarts, what the new process may use in all. The kernel may end the process. The undo
// removes the bound, after which the node must run.
func confine(restarts bool, kib func(a *act) int64) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		if !a.Bed.Can(testbed.CanConfine) {
			return nil, errors.New("this testbed has no control groups")
		}
		h := a.some(ctx, []string{"leader", "follower"}[a.draw.IntN(2)])[0]
		release, err := a.claim(ctx, h)
		if err != nil {
			return nil, err
		}
		memory := kib(a)
		if restarts {
			a.begins("%s has %d MiB", h.Name(), memory>>10)
			a.mayExit(h, "any")
			err = h.Kill()
		} else {
			a.begins("%s has %d KiB more", h.Name(), memory)
			a.mayExit(h, "any") // besides the kernel's kill, a write may fail for lack of memory
		}
		if err == nil {
			err = testbed.Confine(h, memory<<10)
		}
		if err == nil && restarts {
			err = h.Start(ctx)
		}
		return func(ctx context.Context) error {
			defer release()
			kills, err := testbed.Unconfine(h)
			a.note("the kernel ended %d processes of %s for their memory", kills, h.Name())
			a.settle(ctx, h, mayEnd)
			return errors.Join(err, a.run(ctx, h))
		}, err
	}
}

// starve takes descriptors or memory of one node away. ways are the ways in which the
// node may end, "" for those of a failing disk: a file that cannot be opened is one.
func starve(ways string, what func(a *act) (descriptors int, memory int64)) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		h := a.some(ctx, []string{"leader", "follower"}[a.draw.IntN(2)])[0]
		release, err := a.claim(ctx, h)
		if err != nil {
			return nil, err
		}
		descriptors, memory := what(a)
		left := fmt.Sprintf("%d more descriptors", descriptors)
		if descriptors < 0 {
			left = fmt.Sprintf("%d MiB more", memory>>20)
		}
		a.begins("%s has %s", h.Name(), left)
		if ways == "" {
			ways = diskExit
		}
		a.mayExit(h, ways)
		err = h.Starve(descriptors, memory)
		return func(ctx context.Context) error {
			defer release()
			err := errors.Join(err, h.Feed())
			a.settle(ctx, h, endsItself) // a node that has begun to stop needs a moment
			return errors.Join(err, a.run(ctx, h))
		}, err
	}
}
