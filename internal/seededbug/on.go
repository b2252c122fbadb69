//go:build seeded

package seededbug

import (
	"fmt"
	"os"
	"sync/atomic"
)

// Enabled reports whether this build can have a bug seeded.
const Enabled = true

var present = func() *atomic.Pointer[Bug] {
	b, p := choose(), new(atomic.Pointer[Bug])
	p.Store(&b)
	return p
}()

// choose returns the bug that the environment variable names. It ends the process if
// there is no such bug, because the run would prove nothing.
func choose() Bug {
	b, err := Parse(os.Getenv(Variable))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", Variable, err)
		os.Exit(2)
	}
	return b
}

// Is reports whether b is seeded.
func Is(b Bug) bool { return b == *present.Load() && b != "" }

// Seed replaces the seeded bug of this process; "" means none.
func Seed(b Bug) { present.Store(&b) }
