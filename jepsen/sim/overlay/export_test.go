package overlay

// Paths returns the files that the overlay changes.
func Paths() []string {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.path)
	}
	return paths
}
