//go:build !seeded

package planted

// Enabled tells whether this build can have a bug planted.
const Enabled = false

// Is tells whether b is planted: never, in this build.
func Is(Bug) bool { return false }

// Plant does nothing in this build.
func Plant(Bug) {}
