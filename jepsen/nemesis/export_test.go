package nemesis

import "dormouse/jepsen/testbed"

// What is tested without a bed.
var (
	NewHolds = newHolds
	NewWires = newWires
	Claim    = (*holds).claim
	Harm     = (*holds).harm
)

// Lay and Lift bend a link for a step, and let go of all that it bent.
func Lay(w *wires, step int, from, to string, l testbed.Link) {
	w.lay(step, wire{from, to, testbed.AllPorts}, l)
}

// Lift is Lay's undo.
func Lift(w *wires, step int) { w.lift(step) }
