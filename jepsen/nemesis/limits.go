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
	},
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
