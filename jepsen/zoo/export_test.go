package zoo

// Named is what the options tell of a specimen's run.
func Named(o Options, s Specimen) func(line string) { return o.named(s) }
