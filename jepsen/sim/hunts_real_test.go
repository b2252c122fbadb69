//go:build seeded

package sim_test

import (
	"testing"
	"time"

	"dormouse/jepsen/sim"
)

// huntMax is the CPU time in which the simulator finds each bug.
const huntMax = 10 * time.Minute

// TestTheSimulatorFindsEachBug makes simulated runs with every seeded bug. It logs the CPU
// time that each took.
func TestTheSimulatorFindsEachBug(t *testing.T) {
	program, err := sim.Build(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	hunts, err := sim.Hunts()
	if err != nil {
		t.Fatal(err)
	}
	var all []sim.Caught
	for _, h := range hunts {
		t.Run(string(h.Bug), func(t *testing.T) {
			c, err := program.Hunt(t.Context(), h, huntMax)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
			if !c.Found {
				t.Errorf("not found in %d runs, which took %v of CPU time", c.Runs, c.CPU)
			}
		})
	}
	t.Log("\n" + sim.HuntTable(all))
}
