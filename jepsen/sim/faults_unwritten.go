package sim

import (
	"context"
	"errors"
	"time"

	"dormouse/config"
	"dormouse/jepsen/sim/simdisk"
)

// unwrittenLeader ends a leader whose disk hangs, with the entries that it has sent and not written,
// and the followers that have them. The followers that did not hear of those entries elect it, or it
// elects one of them: nothing may be missing that a caller was told of (raftlog.LeaderLogs).
func unwrittenLeader(ctx context.Context, a *act) (string, func(context.Context) error) {
	leader := a.leader()
	if leader == nil || !a.mayHarm() {
		return "left out: there is no leader, or another node does not vote", nil
	}
	var near, away []*host
	side := map[string]bool{} // with the leader
	for _, h := range a.shuffled() {
		switch {
		case h == leader:
		case len(near) < len(a.hosts)/2:
			near = append(near, h)
			side[h.name] = true
		default:
			away = append(away, h)
		}
	}
	side[leader.name] = true
	if leader.knobs.LeaderWrite == config.LeaderWriteParallel {
		a.count("leaders that send what they have not written", 1)
	}
	hear := a.links(func(from, to string) bool { return side[from] != side[to] }, cut)
	heal := a.harmDisk(leader, func(f *simdisk.Faults) { f.Hang = true }, func(f *simdisk.Faults) { f.Hang = false })
	sleep(ctx, between(a.draw, 300*time.Millisecond, 3*time.Second))
	for _, h := range append(near, leader) {
		h.kill(100)
	}
	err := errors.Join(heal(ctx), hear(ctx))
	leader.rise()
	return names(leader) + " and " + names(away...) + " go on without " + names(near...), func(context.Context) error {
		for _, h := range near {
			h.rise()
		}
		return err
	}
}
