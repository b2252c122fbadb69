package nemesis

import (
	"context"
	"errors"
	"time"

	"dormouse/internal/pause"
	"dormouse/jepsen/testbed"
)

var pausing = fault{
	name: "pause", about: "SIGSTOP of the leader, a follower, a majority or all for 0.1 to 30 s; then SIGCONT",
	variants: append([]variant{
		{name: "leader", nodesMin: 1, shortest: 100 * time.Millisecond, longest: 30 * time.Second, begin: pauseSome("leader")},
		{name: "follower", nodesMin: 3, shortest: 100 * time.Millisecond, longest: 30 * time.Second, begin: pauseSome("follower")},
		{name: "majority", nodesMin: 3, shortest: 100 * time.Millisecond, longest: 15 * time.Second, begin: pauseSome("majority")},
		{name: "all", nodesMin: 3, shortest: 100 * time.Millisecond, longest: 15 * time.Second, begin: pauseSome("all")},
		{name: "leaders in turn", nodesMin: 3, shortest: 5 * time.Second, longest: 15 * time.Second, begin: pauseLeaders},
	}, ofPrograms(
		variant{name: "a program", nodesMin: 1, shortest: 100 * time.Millisecond, longest: 15 * time.Second, begin: pauseSome("program")},
		variant{name: "all programs", nodesMin: 1, shortest: 100 * time.Millisecond, longest: 10 * time.Second, begin: pauseSome("programs")},
	)...),
}

func pauseSome(role string) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		hosts := a.some(ctx, role)
		release, err := a.claim(ctx, hosts...)
		if err != nil {
			return nil, err
		}
		a.begins("%s", list(hosts))
		err = each(hosts, (*testbed.Host).Pause)
		return func(ctx context.Context) error {
			defer release()
			return errors.Join(each(hosts, (*testbed.Host).Resume), a.runAll(ctx, hosts))
		}, err
	}
}

func each(hosts []*testbed.Host, do func(*testbed.Host) error) error {
	var errs []error
	for _, h := range hosts {
		errs = append(errs, do(h))
	}
	return errors.Join(errs...)
}

// pauseLeaders pauses the leader for 0.5 to 3 s, longer than its lease, resumes it,
// and pauses the next leader. So old leaders resume while there is a new one.
func pauseLeaders(ctx context.Context, a *act) (undo, error) {
	hosts := a.members()
	release, err := a.claim(ctx, hosts...)
	if err != nil {
		return nil, err
	}
	a.begins("for 0.5 to 3 s each")
	var broken error
	stop := a.background(ctx, func(ctx context.Context) {
		for ctx.Err() == nil && broken == nil {
			h := a.leader(ctx)
			if !h.Running() {
				return
			}
			broken = h.Pause()
			pause.For(ctx, between(a.draw, 500*time.Millisecond, 3*time.Second))
			broken = errors.Join(broken, h.Resume())
			pause.For(ctx, between(a.draw, 0, 500*time.Millisecond))
		}
	})
	return func(ctx context.Context) error {
		defer release()
		stop()
		return errors.Join(broken, a.runAll(ctx, hosts))
	}, nil
}
