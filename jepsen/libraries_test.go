package jepsen

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"dormouse/jepsen/sdkclient"
	"dormouse/jepsen/workload"
)

// TestTheSeedDrawsTheLanguageOfALibrary draws the languages of one workload by many seeds, with all languages on the
// machine, without Elixir, and without any.
func TestTheSeedDrawsTheLanguageOfALibrary(t *testing.T) {
	for _, c := range []struct {
		has  []string
		want []workload.Via
	}{
		{[]string{"elixir", "python", "typescript"}, []workload.Via{"elixir", "python", "typescript"}},
		{[]string{"python", "typescript"}, []workload.Via{"python", "typescript"}},
		{nil, nil},
	} {
		got := map[workload.Via]bool{}
		for seed := range uint64(30) {
			open := func() (libraries, []string) {
				return openLibraries(seed, []string{"register", "cells"}, func(l sdkclient.Language) (sdkclient.Command, error) {
					if !slices.Contains(c.has, l.ID) {
						return sdkclient.Command{}, sdkclient.MissingError("there is no " + l.ID)
					}
					return sdkclient.Command{Args: []string{l.ID}}, nil
				})
			}
			l, missing := open()
			again, _ := open()
			via, drawn := l.of["cells"]
			if l.of["register"] != "" || again.of["cells"] != via || drawn != (c.has != nil) {
				t.Errorf("seed %d: %v, and %v", seed, l.of, again.of)
			}
			first := drawnFirst(seed)
			if said := slices.ContainsFunc(missing, func(line string) bool { return strings.Contains(line, "there is no "+first) }); said == slices.Contains(c.has, first) {
				t.Errorf("seed %d prefers %s of %v: missing %q", seed, first, c.has, missing)
			}
			if drawn {
				got[via] = true
			}
		}
		if all := slices.Sorted(maps.Keys(got)); !slices.Equal(all, c.want) {
			t.Errorf("the machine has %v: %v, want %v", c.has, all, c.want)
		}
	}
}

func drawnFirst(seed uint64) string { return drawn(seed, "cells")[0].ID }
