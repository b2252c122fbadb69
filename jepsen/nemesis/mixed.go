package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dormouse/jepsen/testbed"
)

var mixing = fault{
	name: "mixed", about: "nodes change between the previous build and this one, both ways, killed or stopped in order (give the build with --previous)",
	needs: []testbed.Capability{testbed.CanMix},
	variants: []variant{
		{name: "killed", nodesMin: 2, shortest: 500 * time.Millisecond, longest: 4 * time.Second, mends: 2 * time.Second, begin: change(false)},
		{name: "stopped", nodesMin: 2, shortest: 500 * time.Millisecond, longest: 4 * time.Second, mends: 2 * time.Second, begin: change(true)},
	},
}

// change gives a node the other build. At least one node keeps the previous one: once all
// run this build the feature level rises, and the previous build cannot run any more.
func change(inOrder bool) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		h := a.changeable()
		if h == nil {
			return nil, fmt.Errorf("no node may change its build: only one runs the previous one")
		}
		release, err := a.claim(ctx, h)
		if err != nil {
			return nil, err
		}
		to := "this build"
		if !h.Previous() {
			to = "the previous build"
		}
		a.begins("%s, to %s", h.Name(), to)
		if inOrder {
			err = a.halt(ctx, h)
		} else {
			err = a.kill(h)
		}
		h.UsePrevious(!h.Previous())
		return func(ctx context.Context) error {
			return errors.Join(err, a.restart([]*testbed.Host{h}, release)(ctx))
		}, nil
	}
}

// changeable returns a random member that may change its build, or nil.
func (a *act) changeable() *testbed.Host {
	old := 0
	for _, h := range a.Bed.Hosts() {
		if h.Previous() {
			old++
		}
	}
	for _, h := range a.shuffled() {
		if !h.Previous() || old > 1 {
			return h
		}
	}
	return nil
}
