package jepsen

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// timings are the values of cluster.timing, which all nodes of a run have.
var timings = []string{"lan", "wan"}

// wanEvery is how many runs there are for each one with the timing wan: with it a leader that is
// silent is replaced only after seconds, so a run has fewer elections.
const wanEvery = 4

// timingOf returns the timing of a run; "" leaves the default to each build.
func timingOf(o Options) string {
	switch {
	case o.Timing != "":
		return o.Timing
	case o.Bug != "" || o.Previous != "":
		return ""
	}
	draw := rand.New(rand.NewPCG(o.Seed, hashOf("timing")))
	if draw.IntN(wanEvery) == 0 {
		return timings[1]
	}
	return timings[0]
}

// hashOf returns a hash of a name, for draws that do not depend on each other.
func hashOf(name ...string) uint64 {
	h := fnv.New64a()
	for _, n := range name {
		_, _ = h.Write([]byte(n)) // a hash takes every write
	}
	return h.Sum64()
}

// Settings that differ from node to node. Each list is drawn from evenly.
var knobs = []struct {
	setting string
	values  []string
}{
	{"DORMOUSE_RAFT__SNAPSHOT_ENTRIES", []string{"50", "100", "200", "1000"}},
	{"DORMOUSE_RAFT__TRAILING_ENTRIES", []string{"1", "5", "50"}},
	{"DORMOUSE_RAFT__ENTRY_COMMITS", []string{"1", "8", "500", "500", "1024", "1024"}},
	{"DORMOUSE_RAFT__DECIDE", []string{"leader", "leader", "each"}},
	{"DORMOUSE_RAFT__LEADER_WRITE", []string{"parallel", "parallel", "first"}},
	{"DORMOUSE_PLACEMENT__LEASE", []string{"1s", lease, lease}},
	{"DORMOUSE_STORAGE__CACHE_BYTES", []string{"1048576", "8388608", "67108864", "0"}},
	{"DORMOUSE_STORAGE__MEMORY", []string{"64MiB", "512MiB", "2GiB"}},
}

// knobsOf returns the settings of a host, as environment variables: those that are drawn for it, and
// those of the options. The same seed and name give the same settings, also to a host that joins later.
// None is drawn in a run with a seeded bug, since its trial needs the usual ones, or with an older
// build, which may not know them.
func knobsOf(o Options, host string) map[string]string {
	own := map[string]string{}
	if o.Bug == "" && o.Previous == "" {
		draw := rand.New(rand.NewPCG(o.Seed, hashOf("knobs ", host)))
		for _, k := range knobs {
			own[k.setting] = k.values[draw.IntN(len(k.values))]
		}
	}
	for name, value := range o.Settings {
		own["DORMOUSE_"+strings.ToUpper(strings.ReplaceAll(name, ".", "__"))] = value
	}
	return own
}
