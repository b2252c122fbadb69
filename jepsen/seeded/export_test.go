package seeded

// Named returns the Progress function of a trial's run.
func Named(o Options, s Trial) func(line string) { return o.named(s) }

// Builds reports whether a trial's run builds its nodes.
func Builds(s Trial) bool { return s.builds() }
