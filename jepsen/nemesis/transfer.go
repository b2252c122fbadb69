package nemesis

import (
	"context"
	"errors"
	"time"

	"dormouse/agent/layout"
	"dormouse/internal/pause"
	"dormouse/jepsen/check"
	"dormouse/jepsen/testbed"
)

var transferring = fault{
	name: "transfer", about: "many leadership transfers in a short time; a rolling restart of all nodes",
	variants: append([]variant{
		{name: "storm", nodesMin: 3, shortest: 5 * time.Second, longest: 20 * time.Second, begin: transferStorm},
		{name: check.VariantRolling, nodesMin: 1, shortest: 10 * time.Second, longest: 20 * time.Second, begin: restartRolling((*act).shuffled)},
	}, ofPrograms(
		variant{name: "programs restart", nodesMin: 1, shortest: 4 * time.Second, longest: 12 * time.Second, begin: restartRolling((*act).programs)},
	)...),
}

// transferStorm transfers leadership many times, to a random node or to any. Some
// transfers start before the previous one is complete.
func transferStorm(ctx context.Context, a *act) (undo, error) {
	a.begins("every 0.1 to 2 s")
	made, refused := 0, 0
	stop := a.background(ctx, func(ctx context.Context) {
		for pause.For(ctx, between(a.draw, 100*time.Millisecond, 2*time.Second)) {
			to := ""
			if a.draw.IntN(4) > 0 {
				to = a.any().Node()
			}
			if _, err := a.operator.Change(ctx, layout.ChangeTransfer, to); err != nil {
				refused++
			} else {
				made++
			}
		}
	})
	return func(context.Context) error {
		stop()
		a.note("%d transfers were made, %d were not", made, refused)
		return nil
	}, nil
}

// restartRolling stops the hosts one after the other with SIGTERM. It starts each
// again and waits until it is ready, as an operator installs a new version.
func restartRolling(which func(a *act) []*testbed.Host) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) { return a.restartRolling(ctx, which(a)) }
}

func (a *act) restartRolling(ctx context.Context, hosts []*testbed.Host) (undo, error) {
	release, err := a.claim(ctx, hosts...)
	if err != nil {
		return nil, err
	}
	a.begins("%s", list(hosts))
	var broken error
	outlives := context.WithoutCancel(ctx) // a restart that began is completed
	stop := a.background(ctx, func(ctx context.Context) {
		for _, h := range hosts {
			if ctx.Err() != nil || broken != nil {
				return
			}
			broken = a.reboot(outlives, h)
		}
	})
	return func(ctx context.Context) error {
		defer release()
		stop()
		return errors.Join(broken, a.runAll(ctx, hosts))
	}, nil
}
