package podtest

// Names are what the claims are called.
func Names() (names []string) {
	for _, c := range claims {
		names = append(names, c.name)
	}
	return names
}
