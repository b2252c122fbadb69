//go:build seeded

package sim_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"dormouse/jepsen/sim"
)

// repeats is how often each seed is run. All runs must have the same hash.
const repeats = 20

// TestARunRepeatsItselfBesideABusyCore makes the same runs, with every fault, again and again
// while another core is busy; half of them write the log of the nodes. It takes about four
// minutes of CPU time after the build.
func TestARunRepeatsItselfBesideABusyCore(t *testing.T) {
	program, err := sim.Build(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	var done atomic.Bool
	defer done.Store(true)
	go func() {
		for !done.Load() { //nolint:revive // it keeps a core busy
		}
	}()
	logs := []string{"", filepath.Join(t.TempDir(), "log")}
	for _, seed := range []uint64{3, 5, 8} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			order := sim.Order{Seed: seed, Time: 3 * time.Minute, Workloads: []string{"register", "append"}, Nemeses: sim.Nemeses(), Nodes: 3}
			hashes := map[string]int{}
			for i := range repeats {
				order.Log = logs[i%len(logs)]
				d, err := program.Run(t.Context(), order, nil)
				if err != nil {
					t.Fatal(err)
				}
				if d.Broken != "" || !d.Seeded {
					t.Fatalf("seeded: %v, broken: %s", d.Seeded, d.Broken)
				}
				hashes[d.Hash]++
			}
			if len(hashes) != 1 {
				t.Errorf("the runs have the hashes %v", hashes)
			}
		})
	}
}
