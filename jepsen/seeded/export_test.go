package seeded

// Named returns the Progress function of a trial's run.
func Named(o Options, s Trial) func(line string) { return o.named(s) }
