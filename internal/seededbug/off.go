//go:build !seeded

package seededbug

// Enabled reports whether this build can have a bug seeded.
const Enabled = false

// Is reports whether b is seeded; never in this build.
func Is(Bug) bool { return false }

// Seed does nothing in this build.
func Seed(Bug) {}
