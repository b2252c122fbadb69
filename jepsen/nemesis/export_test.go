package nemesis

import "dormouse/jepsen/testbed"

// Exported for tests without a testbed.
var (
	NewHolds = newHolds
	NewWires = newWires
	Claim    = (*holds).claim
	Harm     = (*holds).harm
)

// Lay sets a link for a step.
func Lay(w *wires, step int, from, to string, l testbed.Link) {
	w.lay(step, wire{from, to, testbed.AllPorts}, l)
}

// Lift removes all links that a step set.
func Lift(w *wires, step int) { w.remove(step) }
