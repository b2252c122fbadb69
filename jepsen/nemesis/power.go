package nemesis

import (
	"context"
	"errors"
	"time"

	"dormouse/jepsen/testbed"
)

var unpowering = fault{
	name: "power", about: "power cut of one node, a majority or all: data that was not synced is lost",
	needs: []testbed.Capability{testbed.CanPower},
	variants: []variant{
		{name: "leader", nodesMin: 1, shortest: time.Second, longest: 6 * time.Second, mends: 2 * time.Second, begin: unplug("leader")},
		{name: "follower", nodesMin: 3, shortest: time.Second, longest: 6 * time.Second, mends: 2 * time.Second, begin: unplug("follower")},
		{name: "majority", nodesMin: 3, shortest: time.Second, longest: 6 * time.Second, mends: 2 * time.Second, begin: unplug("majority")},
		{name: "all", nodesMin: 3, shortest: time.Second, longest: 6 * time.Second, mends: 2 * time.Second, begin: unplug("all")},
	},
}

func unplug(role string) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		hosts := a.some(ctx, role)
		release, err := a.claim(ctx, hosts...)
		if err != nil {
			return nil, err
		}
		a.begins("%s", list(hosts))
		err = a.kill(hosts...)
		for _, h := range hosts {
			err = errors.Join(err, h.Disk().PowerCut(context.WithoutCancel(ctx)))
		}
		return a.restart(hosts, release), err
	}
}
