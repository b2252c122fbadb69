package wildcard

import "testing"

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"a*", "a", true},
		{"a*", "ab", true},
		{"a*", "b", false},
		{"a*", "a*", true}, // a grant for all of a pattern covers the pattern
		{"a*", "ab*", true},
		{"ab*", "a*", false},
		{"*", "", true},
		{"", "", true},
		{"", "a", false},
		{"a*c", "abc", false}, // * is special at the end only
	} {
		if got := Match(c.pattern, c.name); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}
