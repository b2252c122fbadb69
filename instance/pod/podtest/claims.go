package podtest

import "slices"

// claims are the list of SEMANTICS §4, and ours, noun by noun.
var claims = slices.Concat(nodes, mutations, slots, wholes)
