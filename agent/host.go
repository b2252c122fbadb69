package agent

import (
	"slices"
	"strconv"
)

// HandlerVersion is how a lease names one of its process's Go handlers; the
// version is 0 where any will do.
func HandlerVersion(name string, version uint64) string {
	return name + "@" + strconv.FormatUint(version, 10)
}

// MissingHandlers are those of want that are not among have.
func MissingHandlers(have, want []string) []string {
	var missing []string
	for _, handler := range want {
		if !slices.Contains(have, handler) {
			missing = append(missing, handler)
		}
	}
	return missing
}
