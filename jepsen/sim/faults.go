package sim

import (
	"context"
	"fmt"
	"time"

	"dormouse/jepsen/sim/simdisk"
	"dormouse/jepsen/sim/simnet"
)

// variants are all forms of all faults.
var variants = []variant{
	{"kill", "one", 1, 10 * time.Millisecond, 8 * time.Second, killing(100, (*act).any)},
	{"kill", "leader", 1, 10 * time.Millisecond, 8 * time.Second, killing(100, (*act).leads)},
	{"kill", "all", 1, 10 * time.Millisecond, 4 * time.Second, killAll(100)},
	{"kill", "again and again", 1, 2 * time.Second, 10 * time.Second, killRepeatedly},
	{"power", "one", 1, 10 * time.Millisecond, 8 * time.Second, killing(-1, (*act).any)},
	{"power", "all", 1, 10 * time.Millisecond, 4 * time.Second, killAll(-1)},
	{"partition", "leader alone", 3, 200 * time.Millisecond, 15 * time.Second, isolate((*act).leads)},
	{"partition", "one alone", 3, 200 * time.Millisecond, 15 * time.Second, isolate((*act).any)},
	{"partition", "halves", 3, 200 * time.Millisecond, 15 * time.Second, halves},
	{"partition", "leader hears nothing", 3, 200 * time.Millisecond, 10 * time.Second, deaf},
	{"partition", "leader is not heard", 3, 200 * time.Millisecond, 10 * time.Second, mute},
	{"partition", "one way", 3, 200 * time.Millisecond, 10 * time.Second, oneWay},
	{"partition", "the leader is refused, and then hears the next one", 3, time.Second, 4 * time.Second, refusedLeader},
	{"partition", "one alone, until others own its partitions", 3, 6 * time.Second, 12 * time.Second, replacedOwner},
	{"partition", "flapping", 3, time.Second, 10 * time.Second, flapping},
	{"slow-net", "a follower lags", 3, time.Second, 15 * time.Second, slowed((*act).follows)},
	{"slow-net", "the leader lags", 3, time.Second, 15 * time.Second, slowed((*act).leads)},
	{"slow-net", "loss", 1, time.Second, 15 * time.Second, lossy},
	{"slow-net", "answers to the leader are late, and it is not heard", 3, time.Second, 4 * time.Second, lateAnswers},
	{"transfer", "storm", 3, time.Second, 10 * time.Second, transferStorm},
	{"transfer", "rolling restart", 1, 2 * time.Second, 10 * time.Second, rollingRestart},
	{"membership", "demote, then promote", 3, 500 * time.Millisecond, 8 * time.Second, demote},
	{"lost-disk", "wiped", 3, 100 * time.Millisecond, 8 * time.Second, lose(false)},
	{"lost-disk", "wiped and replaced", 3, 100 * time.Millisecond, 8 * time.Second, lose(true)},
	{"corrupt", "a bit of the log flips", 3, 100 * time.Millisecond, 4 * time.Second, flipped},
	{"corrupt", "the log loses its end", 3, 2 * time.Second, 8 * time.Second, loseTail},
	{"disk", "full", 3, 500 * time.Millisecond, 8 * time.Second, fullDisk},
	{"disk", "fails", 3, 500 * time.Millisecond, 8 * time.Second, failingDisk},
	{"disk", "slow", 1, time.Second, 10 * time.Second, slowDisk},
	{"disk", "hangs", 1, 100 * time.Millisecond, 14 * time.Second, hungDisk((*act).any)},
	{"disk", "the leader's hangs", 1, 100 * time.Millisecond, 14 * time.Second, hungDisk((*act).leads)},
	{"disk", "the leader's hangs, and it is cut off", 3, 2 * time.Second, 8 * time.Second, hungAlone},
	{"disk", "the leader's hangs, cut off with one that does not vote", 4, 2 * time.Second, 8 * time.Second, hungWithNonVoter},
	{"disk", "the leader's hangs, and it ends with those that heard it", 3, 4 * time.Second, 8 * time.Second, unwrittenLeader},
	{"pause", "leader", 1, 100 * time.Millisecond, 15 * time.Second, pausing((*act).leads)},
	{"pause", "follower", 3, 100 * time.Millisecond, 15 * time.Second, pausing((*act).follows)},
	{"pause", "leader, which then does not hear the next", 3, 2 * time.Second, 12 * time.Second, pauseUnheard},
	{"pause", "majority", 3, 100 * time.Millisecond, 8 * time.Second, pauseMajority},
	{"pause", "leaders in turn", 3, 3 * time.Second, 12 * time.Second, pauseLeaders},
	{"clock", "jump", 1, time.Second, 10 * time.Second, jump((*act).any)},
	{"clock", "the leader's jumps", 1, time.Second, 10 * time.Second, jump((*act).leads)},
	{"clock", "the leader's jumps as a follower is cut off", 3, 2 * time.Second, 5 * time.Second, ahead},
	{"clock", "all jump apart", 3, time.Second, 10 * time.Second, jumpApart},
	{"clock", "strobe", 1, 2 * time.Second, 10 * time.Second, strobe},
	{"clock", "drift", 1, 3 * time.Second, 15 * time.Second, drift},
}

// unsynced draws how much of what was not synced survives a power failure.
func (a *act) unsynced(percent int) int {
	if percent >= 0 {
		return percent
	}
	return oneOf(a.draw, 0, 0, 30, 70)
}

// killing kills one host.
func killing(percent int, which func(*act) *host) func(context.Context, *act) (string, func(context.Context) error) {
	return func(_ context.Context, a *act) (string, func(context.Context) error) {
		h := which(a)
		h.kill(a.unsynced(percent))
		return names(h), func(context.Context) error {
			h.rise()
			return nil
		}
	}
}

// killAll kills all hosts at once.
func killAll(percent int) func(context.Context, *act) (string, func(context.Context) error) {
	return func(_ context.Context, a *act) (string, func(context.Context) error) {
		for _, h := range a.hosts {
			h.kill(a.unsynced(percent))
		}
		return names(a.hosts...), func(context.Context) error {
			for _, h := range a.shuffled() {
				h.rise()
			}
			return nil
		}
	}
}

// killRepeatedly kills hosts one after the other, each for a moment.
func killRepeatedly(ctx context.Context, a *act) (string, func(context.Context) error) {
	deadline := time.Now().Add(a.For)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for time.Now().Before(deadline) {
			h := a.any()
			h.kill(100)
			sleep(ctx, between(a.draw, time.Millisecond, time.Second))
			h.rise()
			sleep(ctx, between(a.draw, 10*time.Millisecond, 3*time.Second))
		}
	}()
	return "each in turn", func(context.Context) error {
		<-done
		return nil
	}
}

func cut(l *simnet.Link) { l.Cut = true }

// isolate cuts one host off from the others.
func isolate(which func(*act) *host) func(context.Context, *act) (string, func(context.Context) error) {
	return func(_ context.Context, a *act) (string, func(context.Context) error) {
		h := which(a)
		return names(h), a.links(func(from, to string) bool { return from == h.name || to == h.name }, cut)
	}
}

// halves splits the hosts into a majority and a minority, or into two halves if their number is
// even: then each may have a majority of the voters.
func halves(_ context.Context, a *act) (string, func(context.Context) error) {
	few := map[string]bool{}
	for _, h := range a.shuffled()[:len(a.hosts)/2] {
		few[h.name] = true
	}
	return fmt.Sprintf("%d of %d", len(few), len(a.hosts)), a.links(func(from, to string) bool { return few[from] != few[to] }, cut)
}

func deaf(_ context.Context, a *act) (string, func(context.Context) error) {
	h := a.leads()
	return names(h), a.links(func(_, to string) bool { return to == h.name }, cut)
}

func mute(_ context.Context, a *act) (string, func(context.Context) error) {
	h := a.leads()
	return names(h), a.links(func(from, _ string) bool { return from == h.name }, cut)
}

func oneWay(_ context.Context, a *act) (string, func(context.Context) error) {
	two := a.shuffled()[:2]
	return names(two...), a.links(func(from, to string) bool { return from == two[0].name && to == two[1].name }, cut)
}

// flapping cuts one host off and heals it, again and again.
func flapping(ctx context.Context, a *act) (string, func(context.Context) error) {
	h := a.any()
	deadline := time.Now().Add(a.For)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for time.Now().Before(deadline) {
			heal := a.links(func(from, to string) bool { return from == h.name || to == h.name }, cut)
			sleep(ctx, between(a.draw, 50*time.Millisecond, 1500*time.Millisecond))
			_ = heal(ctx) // never fails
			sleep(ctx, between(a.draw, 50*time.Millisecond, 1500*time.Millisecond))
		}
	}()
	return names(h), func(context.Context) error {
		<-done
		return nil
	}
}

// slowed makes what a host sends or receives late.
func slowed(which func(*act) *host) func(context.Context, *act) (string, func(context.Context) error) {
	return func(_ context.Context, a *act) (string, func(context.Context) error) {
		h := which(a)
		by := spread(a.draw, 10*time.Millisecond, 1500*time.Millisecond)
		send, receive := a.draw.IntN(3) > 0, a.draw.IntN(3) > 0
		return fmt.Sprintf("%s by %v", h.name, by), a.links(
			func(from, to string) bool { return from == h.name && send || to == h.name && receive },
			func(l *simnet.Link) { l.Delay, l.Jitter = l.Delay+by, l.Jitter+by/4 })
	}
}

// lossy loses messages on all links.
func lossy(_ context.Context, a *act) (string, func(context.Context) error) {
	share := oneOf(a.draw, 0.01, 0.05, 0.2)
	return fmt.Sprintf("%.0f %%", 100*share), a.links(func(string, string) bool { return true }, func(l *simnet.Link) { l.Loss = share })
}

// withDisk changes the faults of a host's disk for the time of the fault.
func withDisk(h *host, begin, end func(*simdisk.Faults)) func(context.Context) error {
	h.currentDisk().Set(begin)
	return func(context.Context) error {
		h.currentDisk().Set(end)
		return nil
	}
}

func slowDisk(_ context.Context, a *act) (string, func(context.Context) error) {
	h := a.any()
	by := spread(a.draw, 5*time.Millisecond, 500*time.Millisecond)
	return fmt.Sprintf("%s by %v", h.name, by), withDisk(h, func(f *simdisk.Faults) { f.Slow = by }, func(f *simdisk.Faults) { f.Slow = 0 })
}

func hungDisk(which func(*act) *host) func(context.Context, *act) (string, func(context.Context) error) {
	return func(_ context.Context, a *act) (string, func(context.Context) error) {
		h := which(a)
		return names(h), a.harmDisk(h, func(f *simdisk.Faults) { f.Hang = true }, func(f *simdisk.Faults) { f.Hang = false })
	}
}

// harmDisk is withDisk for faults that may end the process.
func (a *act) harmDisk(h *host, begin, end func(*simdisk.Faults)) func(context.Context) error {
	mustRun := a.mayExit(h)
	heal := withDisk(h, begin, end)
	return func(ctx context.Context) error {
		err := heal(ctx)
		sleep(ctx, exitTakes)
		mustRun()
		return err
	}
}

// exitTakes is how long a process may take to end after a failure of its disk.
const exitTakes = 5 * time.Second

func fullDisk(_ context.Context, a *act) (string, func(context.Context) error) {
	h := a.any()
	return names(h), a.harmDisk(h, func(f *simdisk.Faults) { f.Full = true }, func(f *simdisk.Faults) { f.Full = false })
}

func failingDisk(_ context.Context, a *act) (string, func(context.Context) error) {
	h := a.any()
	share := oneOf(a.draw, 0.001, 0.01, 0.3)
	return fmt.Sprintf("%s, %.1f %%", h.name, 100*share), a.harmDisk(h, func(f *simdisk.Faults) { f.Fail = share }, func(f *simdisk.Faults) { f.Fail = 0 })
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
