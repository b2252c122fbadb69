package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dormouse/jepsen/testbed"
)

var mixing = fault{
	name: "mixed", about: "nodes change between the previous build and this one, both ways, killed or stopped in order (give the build with --previous)",
	needs: []testbed.Capability{testbed.CanMix},
	variants: []variant{
		{name: "killed", nodesMin: 2, shortest: 500 * time.Millisecond, longest: 4 * time.Second, mends: 2 * time.Second, begin: change(false)},
		{name: "stopped", nodesMin: 2, shortest: 500 * time.Millisecond, longest: 4 * time.Second, mends: 2 * time.Second, begin: change(true)},
		{name: "up and down", nodesMin: 3, shortest: 8 * time.Second, longest: 20 * time.Second, mends: 2 * time.Second, begin: upAndDown},
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

// upAndDown upgrades the nodes one after the other, all but one, as an operator does, and
// downgrades them again.
func upAndDown(ctx context.Context, a *act) (undo, error) {
	hosts := a.shuffled()
	stays := slices.IndexFunc(hosts, (*testbed.Host).Previous)
	if stays < 0 {
		return nil, errors.New("no node runs the previous build")
	}
	hosts = slices.Delete(hosts, stays, stays+1)
	release, err := a.claim(ctx, hosts...)
	if err != nil {
		return nil, err
	}
	a.begins("%s, to this build and back", list(hosts))
	var broken error
	outlives := context.WithoutCancel(ctx) // a restart that began is completed
	stop := a.background(ctx, func(ctx context.Context) {
		for _, old := range []bool{false, true} {
			for _, h := range hosts {
				if ctx.Err() != nil || broken != nil {
					return
				}
				if h.Previous() != old {
					broken = a.halt(outlives, h)
					h.UsePrevious(old)
					broken = errors.Join(broken, a.run(outlives, h))
				}
			}
		}
	})
	return func(ctx context.Context) error {
		defer release()
		stop()
		return errors.Join(broken, a.runAll(ctx, hosts))
	}, nil
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
