//go:build !failpoints

package failpoint

// Enabled reports whether this build has failpoints.
const Enabled = false

// At does nothing in this build.
func At(Point) {}
