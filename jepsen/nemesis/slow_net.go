package nemesis

import (
	"context"
	"fmt"
	"time"

	"dormouse/internal/pause"
	"dormouse/jepsen/testbed"
)

var slowing = fault{
	name: "slow-net", about: "networks with delay, jitter, loss, duplicates, reordering and corruption, also one way only; a follower that lags; a leader that is heard late; answers that reach the leader more than a second late",
	needs: []testbed.Capability{testbed.CanPartition},
	variants: []variant{
		blurring("delay", 1, func(a *act) testbed.Link { return testbed.Link{Delay: a.millis(10, 200)} }),
		blurring("jitter", 1, func(a *act) testbed.Link { return testbed.Link{Delay: a.millis(1, 30), Jitter: a.millis(20, 300)} }),
		blurring("loss", 1, func(a *act) testbed.Link { return testbed.Link{Loss: a.percent(5, 30)} }),
		blurring("duplicates", 1, func(a *act) testbed.Link { return testbed.Link{Duplicate: a.percent(5, 50)} }),
		blurring("out of order", 1, func(a *act) testbed.Link { return testbed.Link{Jitter: a.millis(1, 20), Reorder: a.percent(5, 40)} }),
		blurring("garbled", 1, func(a *act) testbed.Link { return testbed.Link{Corrupt: a.percent(1, 10)} }),
		blurring("all of it", 3, func(a *act) testbed.Link {
			return testbed.Link{
				Delay: a.millis(1, 50), Jitter: a.millis(1, 50), Loss: a.percent(1, 10),
				Duplicate: a.percent(1, 10), Reorder: a.percent(1, 10), Corrupt: a.percent(1, 5),
			}
		}),
		oneWay("loss one way", func(a *act) testbed.Link { return testbed.Link{Loss: a.percent(20, 90)} }),
		oneWay("out of order one way", func(a *act) testbed.Link { return testbed.Link{Jitter: a.millis(1, 20), Reorder: a.percent(20, 80)} }),
		{name: "a follower lags", nodesMin: 3, shortest: 3 * time.Second, longest: 15 * time.Second, begin: lag},
		{name: "a leader is heard late", nodesMin: 3, shortest: 3 * time.Second, longest: 15 * time.Second, begin: heardLate},
		{name: "slow way back", nodesMin: 3, shortest: 4 * time.Second, longest: 15 * time.Second, begin: slowReturn},
		{name: "slow way back, then a cut", nodesMin: 3, shortest: 6 * time.Second, longest: 15 * time.Second, begin: slowThenCut},
	},
}

// percent returns a random fraction of low to high percent.
func (a *act) percent(low, high int) float64 { return float64(low+a.draw.IntN(high-low+1)) / 100 }

// blurring returns a variant that changes every link, or the links of one random node.
func blurring(name string, nodesMin int, link func(a *act) testbed.Link) variant {
	return variant{
		name: name, nodesMin: nodesMin, shortest: 3 * time.Second, longest: 15 * time.Second,
		begin: func(_ context.Context, a *act) (undo, error) {
			all, l := append(names(a.members()), a.beside()...), link(a)
			some, where := all, "everywhere"
			if a.draw.IntN(2) == 0 {
				h := a.any()
				some, where = []string{h.Name()}, "around "+h.Name()
			}
			a.begins("%s: %s", where, describe(l))
			a.lay(some, all, testbed.AllPorts, l)
			a.lay(all, some, testbed.AllPorts, l)
			return a.remove(), nil
		},
	}
}

// oneWay returns a variant that changes what one node sends or what it receives, and
// leaves the opposite direction as it is.
func oneWay(name string, link func(a *act) testbed.Link) variant {
	return variant{
		name: name, nodesMin: 3, shortest: 3 * time.Second, longest: 15 * time.Second,
		begin: func(ctx context.Context, a *act) (undo, error) {
			h, l := a.some(ctx, []string{"leader", "follower"}[a.draw.IntN(2)])[0], link(a)
			from, to, what := []string{h.Name()}, append(a.others(h), testbed.Clients), "what %s sends: %s"
			if a.draw.IntN(2) == 0 {
				from, to, what = to, from, "what %s receives: %s"
			}
			a.begins(what, h.Name(), describe(l))
			a.lay(from, to, testbed.AllPorts, l)
			return a.remove(), nil
		},
	}
}

func describe(l testbed.Link) string {
	return fmt.Sprintf("%v±%v later, %.0f %% lost, %.0f %% doubled, %.0f %% out of order, %.0f %% garbled",
		l.Delay, l.Jitter, 100*l.Loss, 100*l.Duplicate, 100*l.Reorder, 100*l.Corrupt)
}

// lag delays the messages of the other nodes to a follower, by less than an election
// timeout. Clients reach the follower without delay, so they read from a node whose
// state is old.
func lag(ctx context.Context, a *act) (undo, error) {
	h := a.follower(ctx)
	l := testbed.Link{Delay: a.millis(50, 250)}
	a.begins("%s receives from the others %v late", h.Name(), l.Delay)
	a.lay(a.others(h), []string{h.Name()}, testbed.RaftPorts, l)
	return a.remove(), nil
}

// heardLate delays the messages of the leader to the others, by less than an election timeout,
// and loses some, so that one connection falls behind another. What the others send arrives
// at once: a read of theirs can reach the leader while its question for an earlier read is on
// its way.
func heardLate(ctx context.Context, a *act) (undo, error) {
	h := a.leader(ctx)
	l := testbed.Link{Delay: a.millis(20, 120), Loss: a.percent(1, 4)}
	a.begins("%s is heard by the others: %s", h.Name(), describe(l))
	a.lay([]string{h.Name()}, a.others(h), testbed.RaftPorts, l)
	return a.remove(), nil
}

// slowReturn delays messages from the others to the leader by more than a lease. The
// leader's requests arrive at once; their answers are old when it gets them.
func slowReturn(ctx context.Context, a *act) (undo, error) {
	h := a.leader(ctx)
	l := testbed.Link{Delay: a.millis(1200, 2500)}
	a.begins("%s receives from the others %v late", h.Name(), l.Delay)
	a.lay(a.others(h), []string{h.Name()}, testbed.RaftPorts, l)
	return a.remove(), nil
}

// slowThenCut lets late answers keep a leader in office while its messages do not
// arrive any more. A read that trusts late answers would be stale.
func slowThenCut(ctx context.Context, a *act) (undo, error) {
	h := a.leader(ctx)
	l := testbed.Link{Delay: a.millis(1200, 2000)}
	a.begins("%s receives from the others %v late, and after a while its messages are lost", h.Name(), l.Delay)
	a.lay(a.others(h), []string{h.Name()}, testbed.RaftPorts, l)
	stop := a.background(ctx, func(ctx context.Context) {
		if pause.For(ctx, a.millis(2000, 4000)) {
			a.lay([]string{h.Name()}, a.others(h), testbed.RaftPorts, testbed.Link{Cut: true})
		}
	})
	return func(ctx context.Context) error {
		stop()
		return a.remove()(ctx)
	}, nil
}
