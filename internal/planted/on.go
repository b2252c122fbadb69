//go:build seeded

package planted

import (
	"fmt"
	"os"
	"sync/atomic"
)

// Enabled tells whether this build can have a bug planted.
const Enabled = true

var present = func() *atomic.Pointer[Bug] {
	b, p := choose(), new(atomic.Pointer[Bug])
	p.Store(&b)
	return p
}()

// choose ends the process where the variable names no bug: a run that takes
// itself to have one, and has none, would prove nothing.
func choose() Bug {
	b, err := Parse(os.Getenv(Variable))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", Variable, err)
		os.Exit(2)
	}
	return b
}

// Is tells whether b is planted.
func Is(b Bug) bool { return b == *present.Load() && b != "" }

// Plant plants b in this process, in place of the one that is there; "" is
// none.
func Plant(b Bug) { present.Store(&b) }
