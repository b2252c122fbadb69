package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dormouse/agent/layout"
	"dormouse/internal/pause"
	"dormouse/node"
)

// change asks any running node for a change, until it is made or ctx ends.
func (a *act) change(ctx context.Context, change layout.Change, id string) error {
	err := errors.New("no node runs")
	for {
		for _, h := range a.shuffled() {
			n := h.node()
			if n == nil || h.nodeID() == id && change == layout.ChangeLeave {
				continue
			}
			within, cancel := context.WithTimeout(ctx, 5*time.Second)
			_, err = n.Operator().Change(within, change, id)
			cancel()
			if err == nil {
				return nil
			}
		}
		if !pause.For(ctx, 200*time.Millisecond) {
			return fmt.Errorf("%s of %q: %w", change, id, err)
		}
	}
}

// votes waits until a host's node may vote, as it knows itself and as the leader knows it.
// The leader alone is not enough: it may still take a node with an empty disk for the
// voter that it was.
func (a *act) votes(ctx context.Context, h *host) error {
	for {
		n, leader := h.node(), a.leader()
		if n != nil && leader != nil && n.Ready() == nil {
			is, id := n.Group().LocalStatus(), h.nodeID()
			if is.ClusterID != "" && !is.CatchingUp && isVoter(n, id) && isVoter(leader.node(), id) {
				return nil
			}
		}
		if !pause.For(ctx, 100*time.Millisecond) {
			return fmt.Errorf("%s does not vote", h.name)
		}
	}
}

// isVoter reports whether a node takes another one for a voter.
func isVoter(n *node.Node, id string) bool {
	return n != nil && slices.ContainsFunc(n.Group().Members(), func(m layout.MemberStatus) bool { return m.ID == id && m.Voter })
}

// transferStorm transfers leadership many times, to a random node or to any.
func transferStorm(ctx context.Context, a *act) (string, func(context.Context) error) {
	deadline := time.Now().Add(a.For)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for time.Now().Before(deadline) && pause.For(ctx, between(a.draw, 100*time.Millisecond, 2*time.Second)) {
			to := ""
			if a.draw.IntN(4) > 0 {
				to = a.any().nodeID()
			}
			if n := a.any().node(); n != nil {
				within, cancel := context.WithTimeout(ctx, 3*time.Second)
				if _, err := n.Operator().Change(within, layout.ChangeTransfer, to); err == nil {
					a.count("transfers", 1)
				}
				cancel()
			}
		}
	}()
	return "every 0.1 to 2 s", func(context.Context) error {
		<-done
		return nil
	}
}

// rollingRestart stops the hosts in order, one after the other, and starts each again.
func rollingRestart(ctx context.Context, a *act) (string, func(context.Context) error) {
	done := make(chan struct{})
	all := a.shuffled()
	go func() {
		defer close(done)
		for _, h := range all {
			h.halt(ctx)
			sleep(ctx, between(a.draw, 10*time.Millisecond, time.Second))
			h.rise()
			within, cancel := context.WithTimeout(ctx, 20*time.Second)
			for n := h.node(); (n == nil || n.Ready() != nil) && pause.For(within, 50*time.Millisecond); n = h.node() {
			}
			cancel()
		}
	}()
	return names(all...), func(context.Context) error {
		<-done
		return nil
	}
}

// demote takes a node's vote for a while.
func demote(ctx context.Context, a *act) (string, func(context.Context) error) {
	h := oneOf(a.draw, a.follows, a.leads)()
	if !a.mayHarm() {
		return "left out: another node does not vote", nil
	}
	within, cancel := context.WithTimeout(ctx, a.For)
	err := a.change(within, layout.ChangeDemote, h.nodeID())
	cancel()
	if err == nil {
		a.count("demotions", 1)
	}
	return names(h), func(ctx context.Context) error {
		return a.mended(errors.Join(a.change(ctx, layout.ChangePromote, h.nodeID()), a.votes(ctx, h)))
	}
}

// lose takes a host's disk away. Its node comes back under its name, or leaves and another
// one replaces it.
func lose(replaced bool) func(context.Context, *act) (string, func(context.Context) error) {
	return func(_ context.Context, a *act) (string, func(context.Context) error) {
		h := a.any()
		if !a.mayHarm() {
			return "left out: another node does not vote", nil
		}
		h.kill(100)
		a.count("disks lost", 1)
		return names(h), func(ctx context.Context) error {
			return a.mended(a.refill(ctx, h, replaced))
		}
	}
}

// refill gives a host that is down an empty disk, starts it, and waits until it votes.
func (a *act) refill(ctx context.Context, h *host, replaced bool) error {
	id := h.nodeID()
	if replaced {
		within, cancel := context.WithTimeout(ctx, 20*time.Second)
		if a.change(within, layout.ChangeLeave, id) == nil {
			id = fmt.Sprintf("%s-%d", h.name, a.N)
			a.count("replacements", 1)
		}
		cancel()
	}
	h.wipe(id)
	h.rise()
	return a.votes(ctx, h)
}

// flipped flips a bit of a host's log while the host is down. The node must see it: it
// refuses to start, or repairs itself from the others. Then the host gets an empty disk.
func flipped(_ context.Context, a *act) (string, func(context.Context) error) {
	h := a.any()
	if !a.mayHarm() {
		return "left out: another node does not vote", nil
	}
	h.kill(100)
	at, found := h.currentDisk().Flip(a.draw)
	if found {
		a.count("bits flipped", 1)
	}
	mustRun := a.mayExit(h)
	h.rise()
	return h.name + ": " + at, func(ctx context.Context) error {
		h.kill(100)
		sleep(ctx, exitTakes)
		mustRun()
		return a.mended(a.refill(ctx, h, false))
	}
}

// mayHarm reserves the one loss of a vote that the cluster tolerates at a time. The
// reservation ends with mended.
func (a *act) mayHarm() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.losing {
		return false
	}
	a.losing = true
	return true
}

// mended ends the reservation, unless the repair failed with err: then the vote is lost
// until the end of the run.
func (a *act) mended(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.losing = err != nil
	return err
}
