package config

import "time"

// The values of cluster.timing.
const (
	TimingLAN     = "lan"     // round trips of a few milliseconds: one data center, or zones of one region
	TimingWAN     = "wan"     // round trips of up to 300 ms: several regions
	timingDefault = "default" // another word for TimingLAN, from versions that had no TimingWAN
)

// Timing is a named set of times that belong together: how long nodes wait before they believe that
// another is lost. All nodes of a cluster should have the same. A cluster whose nodes differ is safe,
// since no rule of Raft and no lease depends on it: at worst it holds elections that it need not.
type Timing struct {
	// Of Raft: a follower stands for election after Heartbeat without a message of the leader, a
	// candidate gives up after Election, a leader without a majority steps down after LeaderLease.
	// A leader sends a heartbeat every tenth to fifth of Heartbeat.
	Heartbeat, Election, LeaderLease time.Duration
	// Of voters that replace a leader before that: they look for it after Silence without a message,
	// it has Answer to answer, and the voters Agree to agree. Each request and connection has Probe.
	// A voter waits Stand for each one that is to stand before it.
	Silence, Answer, Probe, Agree, Stand time.Duration
	// Round is how long a leader waits for the voters to confirm it before linearizable reads go
	// through the log, where they wait for a write of the disk as well.
	Round time.Duration
	// Deposed is how long a leader that was replaced, or the owner of an instance, may go on to
	// answer what it was asked before.
	Deposed time.Duration
	// Connect bounds one attempt to connect to another node, which takes some round trips.
	Connect time.Duration
	// Lease is the default of placement.lease, and LeaseMin the least. A node renews its lease every
	// third of it. With round trips of 300 ms a lease of 500 ms is never renewed in time, and one of
	// 3 s always is; with round trips of 150 ms one of 1.5 s is.
	Lease, LeaseMin time.Duration
	// GossipWAN selects the intervals of gossip for wide networks.
	GossipWAN bool
}

// timings are the sets. A node may stop for 300 ms with TimingLAN, between two heartbeats that are
// 200 ms apart: each patience is above 500 ms.
var timings = map[string]Timing{
	TimingLAN: {
		Heartbeat: time.Second, Election: time.Second, LeaderLease: 750 * time.Millisecond,
		Silence: 450 * time.Millisecond, Answer: 300 * time.Millisecond, Probe: 200 * time.Millisecond, Agree: time.Second, Stand: 150 * time.Millisecond,
		Round: 250 * time.Millisecond, Deposed: 200 * time.Millisecond, Connect: time.Second,
		Lease: 1500 * time.Millisecond, LeaseMin: 500 * time.Millisecond,
	},
	TimingWAN: {
		Heartbeat: 5 * time.Second, Election: 5 * time.Second, LeaderLease: 3 * time.Second,
		Silence: 1600 * time.Millisecond, Answer: 1400 * time.Millisecond, Probe: 1500 * time.Millisecond, Agree: 6 * time.Second, Stand: 2 * time.Second,
		Round: time.Second, Deposed: time.Second, Connect: 4 * time.Second,
		Lease: 10 * time.Second, LeaseMin: time.Second,
		GossipWAN: true,
	},
}

// TimingOf returns the set of a name; that of TimingLAN for other names.
func TimingOf(name string) Timing {
	if t, ok := timings[name]; ok {
		return t
	}
	return timings[TimingLAN]
}

// DefaultFor returns the default configuration for a timing.
func DefaultFor(timing string) Config {
	c := Default()
	if _, ok := timings[timing]; ok {
		c.Cluster.Timing = timing
	}
	c.Placement.Lease = TimingOf(timing).Lease
	return c
}
