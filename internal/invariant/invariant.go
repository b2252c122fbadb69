// Package invariant checks what must hold. Checks panic where the build has
// the tag "invariants", as every test's has, and cost nothing elsewhere.
package invariant

import "fmt"

// Check panics where ok is false and checks are on. Guard it with Enabled
// where telling ok costs something.
func Check(ok bool, format string, args ...any) {
	if Enabled && !ok {
		panic("invariant broken: " + fmt.Sprintf(format, args...))
	}
}
