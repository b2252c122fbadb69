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

// WrongMarks judges the marks that a state restored at an index holds.
func WrongMarks(there []string, acknowledged map[string]uint64, unknown []string, index uint64) []string {
	holds := map[string]bool{}
	for _, key := range there {
		holds[key] = true
	}
	var marks []mark
	for key, at := range acknowledged {
		marks = append(marks, mark{key, at})
	}
	return wrongMarks(holds, marks, unknown, index)
}
