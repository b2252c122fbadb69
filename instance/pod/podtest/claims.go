package podtest

import "slices"

// claims are the conformance claims PD-1 to PD-15 and further ones, by subject.
var claims = slices.Concat(nodes, mutations, slots, wholes)

// Names returns the names of all claims. A name begins with the claim's
// conformance id, if it has one.
func Names() (names []string) {
	for _, c := range claims {
		names = append(names, c.name)
	}
	return names
}
