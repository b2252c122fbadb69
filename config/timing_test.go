package config_test

import (
	"testing"
	"time"

	"dormouse/config"
)

// The timing decides the default of the lease; a lease that is set stays. The word of earlier versions
// still works.
func TestTheTimingDecidesTheLease(t *testing.T) {
	const ok = "node: {id: n1}\n"
	for _, c := range []struct {
		yaml, timing string
		lease        time.Duration
	}{
		{ok, "lan", 1500 * time.Millisecond},
		{ok + "cluster: {timing: lan}\n", "lan", 1500 * time.Millisecond},
		{ok + "cluster: {timing: default}\n", "lan", 1500 * time.Millisecond},
		{ok + "cluster: {timing: wan}\n", "wan", 10 * time.Second},
		{ok + "cluster: {timing: wan}\nplacement: {lease: 1500ms}\n", "wan", 1500 * time.Millisecond},
		{ok + "placement: {lease: 0s}\n", "lan", 0},
	} {
		got, err := load(t, sources{yaml: c.yaml})
		if err != nil || got.Cluster.Timing != c.timing || got.Placement.Lease != c.lease {
			t.Errorf("%q: timing %s, lease %v, %v", c.yaml, got.Cluster.Timing, got.Placement.Lease, err)
		}
		for _, s := range got.Settings() {
			if s.Name == "placement.lease" && c.timing == "wan" && s.Default != "10s" {
				t.Errorf("with the timing wan the default of the lease is listed as %s", s.Default)
			}
		}
	}
}

// The times of a set fit together: a pause of 300 ms between two heartbeats is shorter than what the
// leader and the voters wait, they wait less than Raft, and a lease outlives the replacement of a silent
// leader.
func TestTheTimesOfASetFitTogether(t *testing.T) {
	for name, pause := range map[string]time.Duration{config.TimingLAN: 300 * time.Millisecond, config.TimingWAN: time.Second} {
		s := config.TimingOf(name)
		silence := pause + s.Heartbeat/5 // the longest time between two heartbeats
		switch {
		case s.Election < s.Heartbeat, s.LeaderLease > s.Heartbeat:
			t.Errorf("%s: Raft refuses it", name)
		case silence >= s.LeaderLease, silence >= s.Silence+s.Answer:
			t.Errorf("%s: a pause of %v ends a term", name, pause)
		case s.Silence+s.Answer >= s.Heartbeat:
			t.Errorf("%s: Raft's timeout comes first", name)
		case s.Lease/3+s.Silence+s.Answer >= s.Lease-s.Lease/20:
			t.Errorf("%s: owners pause whenever a leader is replaced", name)
		}
	}
}
