//go:build invariants

package invariant

// Enabled reports whether checks are on.
const Enabled = true
