package sim

import (
	"context"
	"fmt"
	"time"

	"dormouse/jepsen/sim/simnet"
)

// drainTakes is how long the leader has to commit what it was asked for.
const drainTakes = 50 * time.Millisecond

// refusedLeader makes all connections between the leader and the others fail at once: the others take
// its process for ended and elect another leader, while the old one still has its lease. Then the old
// one hears the next one again, whose heartbeats wait less long for another attempt than its entries
// do, and whichever comes first says that there is a new term. The old leader has no write of its own
// under way until then, and some soon after (hashicorp/raft#695).
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

// leads reports whether the host's node takes itself for the leader.
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
