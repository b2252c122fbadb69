package nemesis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"dormouse/jepsen/testbed"
)

var shifting = fault{
	name: "clock", about: "wall clocks that jump by 1 ms to 1 h either way, strobe, and drift",
	needs: []testbed.Capability{testbed.CanClock},
	variants: []variant{
		{name: "jump", nodesMin: 1, shortest: time.Second, longest: 10 * time.Second, begin: jump("one")},
		{name: "the leader's jumps", nodesMin: 3, shortest: time.Second, longest: 10 * time.Second, begin: jump("leader")},
		{name: "the leader's jumps as a follower is cut off", nodesMin: 3, shortest: 2 * time.Second, longest: 5 * time.Second, begin: ahead},
		{name: "all jump apart", nodesMin: 3, shortest: time.Second, longest: 10 * time.Second, begin: jump("all")},
		{name: "strobe", nodesMin: 1, shortest: 2 * time.Second, longest: 10 * time.Second, begin: strobe},
		{name: "drift", nodesMin: 1, shortest: 3 * time.Second, longest: 15 * time.Second, begin: drift},
	},
}

// clocks returns the hosts of a role. The role "one" is a random member.
func (a *act) clocks(ctx context.Context, role string) []*testbed.Host {
	if role == "one" {
		return []*testbed.Host{a.any()}
	}
	return a.some(ctx, role)
}

// skew returns a skew of 1 ms to 1 h, either way, evenly distributed by its logarithm.
func (a *act) skew() time.Duration {
	d := spread(a.draw, time.Millisecond, time.Hour).Round(time.Millisecond)
	if a.draw.IntN(2) == 0 {
		return -d
	}
	return d
}

// heals returns the undo of all changes to the clocks.
func heals(hosts []*testbed.Host) undo {
	return func(context.Context) error {
		for _, h := range hosts {
			h.Clock().Heal()
		}
		return nil
	}
}

func jump(role string) func(ctx context.Context, a *act) (undo, error) {
	return func(ctx context.Context, a *act) (undo, error) {
		hosts := a.clocks(ctx, role)
		by := make([]string, len(hosts))
		skews := make([]time.Duration, len(hosts))
		for i, h := range hosts {
			skews[i] = a.skew()
			by[i] = fmt.Sprintf("%s by %v", h.Name(), skews[i])
		}
		a.begins("%s", strings.Join(by, ", "))
		for i, h := range hosts {
			h.Clock().Set(skews[i])
		}
		return heals(hosts), nil
	}
}

// ahead cuts a follower off from the other nodes and sets the leader's clock ahead by more than
// a lease of the tests' clusters: a lease that trusts wall clocks then ends before its holder
// knows. The jump is so short that time passes it soon: until then the log's wall time stands
// still.
func ahead(ctx context.Context, a *act) (undo, error) {
	leader, follower := a.leader(ctx), a.follower(ctx)
	by := spread(a.draw, 6*time.Second, 12*time.Second).Round(time.Millisecond)
	a.begins("%s by %v, %s is cut off", leader.Name(), by, follower.Name())
	if a.Bed.Can(testbed.CanPartition) {
		a.cut([]string{follower.Name()}, a.others(follower), testbed.AllPorts)
	}
	leader.Clock().Set(by)
	return func(ctx context.Context) error {
		return errors.Join(a.remove()(ctx), heals([]*testbed.Host{leader})(ctx))
	}, nil
}

func strobe(ctx context.Context, a *act) (undo, error) {
	hosts := a.some(ctx, []string{"leader", "minority", "all"}[a.draw.IntN(3)])
	by, period := a.skew(), a.millis(2, 400)
	a.begins("%s, by %v each %v", list(hosts), by, period)
	for _, h := range hosts {
		h.Clock().Strobe(by, period, a.For)
	}
	return heals(hosts), nil
}

func drift(ctx context.Context, a *act) (undo, error) {
	hosts := a.some(ctx, []string{"leader", "minority", "all"}[a.draw.IntN(3)])
	rate := float64(a.draw.IntN(4001)-2000) / 1000 // from -2 to 2 s a second
	a.begins("%s, by %+.3f s a second", list(hosts), rate)
	for _, h := range hosts {
		h.Clock().Drift(rate, a.For)
	}
	return heals(hosts), nil
}
