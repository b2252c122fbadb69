package podtest

import "slices"

// claims are the list of SEMANTICS §4, and ours, noun by noun.
var claims = slices.Concat(nodes, mutations, slots, wholes)

// Names are the names of all claims, each of which begins with the conformance id
// that it proves, where there is one.
func Names() (names []string) {
	for _, c := range claims {
		names = append(names, c.name)
	}
	return names
}
