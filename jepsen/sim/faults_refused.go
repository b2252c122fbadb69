package sim

import (
	"context"
	"fmt"
	"time"

	"dormouse/jepsen/sim/simnet"
)

// drainTakes is how long the leader has to commit what it was asked for.
const drainTakes = 50 * time.Millisecond

// refusedLeader makes all connections between the leader and the others fail at once. The others
// conclude that its process has ended and elect another leader, while the old one still has its
// lease. Then the new leader can reach the old one again. Its heartbeats are retried sooner than its
// entries, so a heartbeat tells the old leader of the new term. Until then the old leader has no write
// of its own under way, and soon after it has some (hashicorp/raft#695).
func refusedLeader(ctx context.Context, a *act) (string, func(context.Context) error) {
	old := a.leader()
	if old == nil {
		return "left out: there is no leader", nil
	}
	term := a.termOf(old)
	a.net.Set(clientHost, old.name, cut)
	sleep(ctx, drainTakes)
	a.refuse(old, true)
	next := a.nextLeader(ctx, old)
	if next != nil {
		sleep(ctx, spread(a.draw, 100*time.Millisecond, 500*time.Millisecond))
		a.net.Refuse(next.name, old.name, false)
		for patience := 100; patience > 0 && a.termOf(old) == term && old.leads(); patience-- {
			sleep(ctx, 5*time.Millisecond)
		}
		if old.leads() {
			a.count("leaders that heard the next one", 1)
		}
	}
	a.net.Set(clientHost, old.name, func(l *simnet.Link) { *l = a.plan.Link })
	return fmt.Sprintf("%s, and then %s", old.name, nameOf(next)), func(context.Context) error {
		a.refuse(old, false)
		return nil
	}
}

// refuse makes a host and all others refuse each other's connections, or ends that.
func (a *act) refuse(h *host, refuses bool) {
	for _, other := range a.hosts {
		if other != h {
			a.net.Refuse(h.name, other.name, refuses)
			a.net.Refuse(other.name, h.name, refuses)
		}
	}
}

// nextLeader waits until another host than old leads, for at most a second. It returns nil if none does.
func (a *act) nextLeader(ctx context.Context, old *host) *host {
	for range 200 {
		if next := a.leader(); next != nil && next != old {
			return next
		}
		sleep(ctx, 5*time.Millisecond)
	}
	return nil
}

// termOf returns the term in which a host's node is; 0 if none runs.
func (a *act) termOf(h *host) uint64 {
	if n := h.node(); n != nil {
		return n.Group().LocalStatus().Term
	}
	return 0
}

// leads reports whether the host's node believes that it is the leader.
func (h *host) leads() bool {
	n := h.node()
	return n != nil && n.Group().IsLeader()
}

func nameOf(h *host) string {
	if h == nil {
		return "none"
	}
	return h.name
}
