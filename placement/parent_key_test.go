package placement_test

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dormouse/placement"
)

// A key may name the key whose partition it is in, and that key another one.
func TestAKeyMayNameItsPartitionsKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringN(1, 12, -1)
		scope, manager, key := word.Draw(t, "scope"), word.Draw(t, "manager"), word.Draw(t, "key")
		want := placement.Partition(scope, manager, key)
		for range rapid.IntRange(1, 4).Draw(t, "deep") {
			name := word.Draw(t, "name")
			key = "at/" + strings.Join([]string{url.PathEscape(manager), url.PathEscape(key), url.PathEscape(name)}, "/")
			manager = word.Draw(t, "keeper")
			if got := placement.Partition(scope, manager, key); got != want {
				t.Fatalf("%q of %q is in %d, want %d", key, manager, got, want)
			}
		}
	})
}

// A key that only resembles this form is an ordinary key: its manager counts.
func TestAKeyThatOnlyLooksLikeItIsAnyKey(t *testing.T) {
	for _, key := range []string{"at/m/k", "at/m/k/n/x", "at//k/n", "at/m//n", "at/m/k/", "at/m/%zz/n", "pod/m/k/n", "at", "AT/m/k/n"} {
		spread := map[int]bool{}
		for _, manager := range []string{"a", "b", "c", "d"} {
			spread[placement.Partition("s", manager, key)] = true
		}
		if len(spread) == 1 {
			t.Errorf("%q is in one partition, whoever keeps it", key)
		}
	}
}
