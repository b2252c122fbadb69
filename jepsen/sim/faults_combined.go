package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dormouse/agent/layout"
	"dormouse/config"
	"dormouse/internal/pause"
	"dormouse/jepsen/sim/simdisk"
	"dormouse/jepsen/sim/simnet"
)

// transferTakes bounds the wait for the leader that a fault needs.
const transferTakes = 5 * time.Second

// pauseUnheard pauses the leader. When it goes on, it does not hear the leader that was elected
// meanwhile, only the others.
func pauseUnheard(_ context.Context, a *act) (string, func(context.Context) error) {
	old := a.leads()
	resume := old.pause()
	return names(old), func(ctx context.Context) error {
		next := a.leader() // the one with the highest term
		if next == nil || next == old {
			resume()
			return nil
		}
		hear := a.links(func(from, to string) bool { return from == next.name && to == old.name }, cut)
		resume()
		sleep(ctx, between(a.draw, 200*time.Millisecond, 2*time.Second))
		return hear(ctx)
	}
}

// lateAnswers makes one follower's answers to the leader late, and then cuts what the leader sends:
// others may elect another leader while the old one still counts late answers, and hear it.
func lateAnswers(ctx context.Context, a *act) (string, func(context.Context) error) {
	leader, late := a.leads(), a.follows()
	by := between(a.draw, 300*time.Millisecond, 650*time.Millisecond)
	if a.plan.Knobs[0].Timing == config.TimingWAN {
		by *= 4
	}
	hurry := a.links(func(from, to string) bool { return from == late.name && to == leader.name }, func(l *simnet.Link) { l.Delay += by })
	sleep(ctx, 2*by+between(a.draw, 0, time.Second))
	speak := a.links(func(from, _ string) bool { return from == leader.name }, cut)
	return fmt.Sprintf("%s to %s by %v", late.name, leader.name, by), func(ctx context.Context) error {
		return errors.Join(speak(ctx), hurry(ctx))
	}
}

// hungAlone hangs the leader's disk and cuts the leader off, so that the others elect another one
// while the old one cannot step down. The link is healed before the disk.
func hungAlone(ctx context.Context, a *act) (string, func(context.Context) error) {
	return a.hungApart(a.leadsAndWritesFirst(ctx, nil))
}

// leadsAndWritesFirst returns a leader that writes its entries before it sends them, so that its Raft
// waits for its disk. It transfers leadership for that, but not to one host. If no other writes first,
// it returns the leader.
func (a *act) leadsAndWritesFirst(ctx context.Context, not *host) *host {
	if leader := a.leads(); leader.knobs.LeaderWrite == config.LeaderWriteFirst {
		return leader
	}
	for _, h := range a.shuffled() {
		if h == not || h.knobs.LeaderWrite != config.LeaderWriteFirst {
			continue
		}
		within, cancel := context.WithTimeout(ctx, transferTakes)
		defer cancel()
		for a.change(within, layout.ChangeTransfer, h.nodeID()) == nil && !h.leads() && pause.For(within, 10*time.Millisecond) {
		}
		break
	}
	return a.leads()
}

// hungWithNonVoter is hungAlone, with a node that does not vote on the leader's side.
func hungWithNonVoter(ctx context.Context, a *act) (string, func(context.Context) error) {
	if !a.mayHarm() {
		return "left out: another node does not vote", nil
	}
	idle := a.follows()
	within, cancel := context.WithTimeout(ctx, 10*time.Second)
	err := a.change(within, layout.ChangeDemote, idle.nodeID())
	cancel()
	if err == nil {
		a.count("demotions", 1)
	}
	what, rejoin := a.hungApart(a.leadsAndWritesFirst(ctx, idle), idle)
	return what, func(ctx context.Context) error {
		return a.mended(errors.Join(rejoin(ctx), a.change(ctx, layout.ChangePromote, idle.nodeID()), a.votes(ctx, idle)))
	}
}

// hungApart hangs the disk of the first host, and cuts all the hosts off from the others.
func (a *act) hungApart(side ...*host) (string, func(context.Context) error) {
	apart := map[string]bool{}
	for _, h := range side {
		apart[h.name] = true
	}
	goOn := a.harmDisk(side[0], func(f *simdisk.Faults) { f.Hang = true }, func(f *simdisk.Faults) { f.Hang = false })
	rejoin := a.links(func(from, to string) bool { return apart[from] != apart[to] }, cut)
	return names(side...), func(ctx context.Context) error {
		err := rejoin(ctx)
		sleep(ctx, between(a.draw, 500*time.Millisecond, 3*time.Second))
		return errors.Join(err, goOn(ctx))
	}
}

// loseTail takes the end of a follower's log away, with entries that only the leader and that
// follower have, and then ends the leader's process. The follower was stopped as asked, so that it
// knows how long its log was: it must not vote. After any other end, it may not know of the last second.
func loseTail(ctx context.Context, a *act) (string, func(context.Context) error) {
	leader := a.leader()
	if leader == nil || !a.mayHarm() {
		return "left out: there is no leader, or another node does not vote", nil
	}
	var followers []*host
	for _, h := range a.shuffled() {
		if h != leader {
			followers = append(followers, h)
		}
	}
	lossy, late := followers[0], followers[1:]
	lags := map[string]bool{}
	for _, h := range late[:len(a.hosts)/2] {
		lags[h.name] = true
	}
	catchUp := a.links(func(from, to string) bool { return lags[from] != lags[to] }, cut)
	sleep(ctx, between(a.draw, 500*time.Millisecond, 3*time.Second))
	at := "it did not stop as asked, so its log stays"
	if lossy.halt(ctx) {
		var lost bool
		if at, lost = lossy.currentDisk().LoseTail(a.draw); lost {
			a.count("tails lost", 1)
		}
	}
	mustRun := a.mayExit(lossy)
	leader.kill(100)
	err := catchUp(ctx)
	lossy.rise()
	return lossy.name + ": " + at, func(ctx context.Context) error {
		leader.rise()
		lossy.kill(100)
		sleep(ctx, exitTakes)
		mustRun()
		return a.mended(errors.Join(err, a.refill(ctx, lossy, false)))
	}
}
