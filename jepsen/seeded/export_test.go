package seeded

// Named is what the options tell of a trial's run.
func Named(o Options, s Trial) func(line string) { return o.named(s) }
