// Package invariant checks invariants. Checks panic in builds with the tag
// "invariants", which all tests have, and cost nothing in others.
package invariant

import "fmt"

// Check panics if ok is false and checks are on. Guard it with Enabled if computing ok
// is expensive.
func Check(ok bool, format string, args ...any) {
	if Enabled && !ok {
		panic("invariant broken: " + fmt.Sprintf(format, args...))
	}
}
