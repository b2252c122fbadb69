package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dormouse/internal/pause"
	"dormouse/jepsen/command"
	"dormouse/jepsen/testbed"
	"dormouse/jepsen/testbed/disk"
)

var replacing = fault{
	name: "replacement", about: "each node in turn is replaced by the commands of docs/recovery.md, the founder first: lost with its disk, or removed by dormctl leave",
	needs: []testbed.Capability{testbed.CanCommand},
	variants: []variant{
		{name: "dead nodes", nodesMin: 3, shortest: 10 * time.Second, longest: 20 * time.Second, mends: 15 * time.Second, begin: replaceEach(revive)},
		{name: "other machines", nodesMin: 3, shortest: 10 * time.Second, longest: 20 * time.Second, mends: 15 * time.Second, begin: replaceEach(succeed)},
		{name: "the founder", nodesMin: 3, shortest: 6 * time.Second, longest: 15 * time.Second, mends: 15 * time.Second, begin: replaceFounder},
	},
}

// replacement replaces a member, which the caller holds.
type replacement func(ctx context.Context, a *act, h *testbed.Host) error

// replaceEach replaces the members one after the other, in the order in which they were
// made: the first one may have founded the cluster. It replaces as many as its time
// allows.
func replaceEach(by replacement) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) { return replaceAll(ctx, a, a.members(), by) }
}

// replaceFounder replaces the first node in both ways.
func replaceFounder(ctx context.Context, a *act) (undo, error) {
	first := a.members()[0]
	return replaceAll(ctx, a, []*testbed.Host{first}, func(ctx context.Context, a *act, h *testbed.Host) error {
		return errors.Join(revive(ctx, a, h), succeed(ctx, a, h))
	})
}

func replaceAll(ctx context.Context, a *act, hosts []*testbed.Host, by replacement) (undo, error) {
	release, err := a.claim(ctx, hosts...)
	if err != nil {
		return nil, err
	}
	mended, err := spare(ctx, a, hosts[0])
	if err != nil {
		release()
		return nil, err
	}
	a.begins("%s", list(hosts))
	var broken error
	outlives := context.WithoutCancel(ctx) // a replacement that began is completed
	stop := a.background(ctx, func(ctx context.Context) {
		for _, h := range hosts {
			if ctx.Err() != nil || broken != nil {
				return
			}
			bounded, cancel := context.WithTimeout(outlives, healMax)
			if broken = by(bounded, a, h); broken == nil {
				a.note("%s was replaced", h.Name())
			}
			cancel()
		}
	})
	return func(ctx context.Context) error {
		defer release()
		stop()
		if broken == nil {
			mended()
		}
		return errors.Join(broken, a.runAll(ctx, hosts))
	}, nil
}

// spare reserves one of the losses of a disk that the cluster tolerates.
func spare(ctx context.Context, a *act, h *testbed.Host) (mended func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, a.For)
	defer cancel()
	return a.holds.harm(ctx, h.Name(), (len(a.members())-1)/2)
}

// revive is "A dead node" of docs/recovery.md: the same name, the same settings and an
// empty data directory.
func revive(ctx context.Context, a *act, h *testbed.Host) error {
	if err := errors.Join(a.kill(h), disk.Wipe(h.DataDir())); err != nil {
		return err
	}
	if err := a.run(ctx, h); err != nil {
		return err
	}
	return a.votes(ctx, h)
}

// succeed is "Another machine" of docs/recovery.md: dormctl leave, and a new node with a
// name of its own.
func succeed(ctx context.Context, a *act, h *testbed.Host) error {
	a.mayExit(h, "exit code 7")
	if err := dormctl(ctx, a, "leave", h.Node()); err != nil {
		return err
	}
	a.seat(h, false)
	if err := a.dismissed(ctx, h); err != nil {
		return err
	}
	return a.rejoin(ctx, h)
}

// dormctl runs a command of an operator until it succeeds. Exit code 4 is a refusal that
// holds; the others may pass.
func dormctl(ctx context.Context, a *act, args ...string) error {
	var endpoints []string
	for _, h := range a.members() {
		endpoints = append(endpoints, h.GRPC())
	}
	for tries := 0; ; tries++ {
		_, err := a.Bed.Command(ctx, endpoints, nil, args...)
		var exit *testbed.CommandError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &exit) && exit.Code == command.ExitNotFound && tries > 0:
			return nil // an earlier attempt did it
		case errors.As(err, &exit) && (exit.Code == command.ExitUsage || exit.Code == command.ExitConflict) || !pause.For(ctx, 300*time.Millisecond):
			return fmt.Errorf("dormctl %v: %w", args, err)
		}
	}
}
