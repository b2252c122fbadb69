// Package wildcard matches names with the patterns of grants and rules.
package wildcard

import "strings"

// Match reports whether name is the pattern or, if the pattern ends with *, begins with what is
// before the *.
func Match(pattern, name string) bool {
	prefix, open := strings.CutSuffix(pattern, "*")
	return open && strings.HasPrefix(name, prefix) || name == pattern
}
