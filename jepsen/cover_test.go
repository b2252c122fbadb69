package jepsen_test

import (
	"fmt"
	"slices"
	"testing"

	"dormouse/jepsen"
)

var (
	nine     = []string{"append", "claim", "dedupe", "delete", "hibernate", "register", "set", "turn", "watch"}
	thirteen = []string{
		"none", "kill", "pause", "partition", "slow-net", "clock", "disk", "power", "corrupt", "lost-disk", "membership", "transfer", "overload",
	}
)

// TestEveryPairIsCovered checks the full cover and some unusual ones.
func TestEveryPairIsCovered(t *testing.T) {
	for _, c := range []struct {
		workloads, nemeses []string
		sizes              []int
		most               int // maximum number of runs
	}{
		{nine, thirteen, []int{1, 3, 5}, 45},
		{nine[:1], thirteen, []int{1, 3, 5}, 39},
		{nine, thirteen[:1], []int{1, 3, 5}, 9},
		{nine[:4], thirteen[:2], []int{3, 5}, 4},
		{nine, thirteen, []int{3}, 39},
		{nine[:1], thirteen[:1], []int{3}, 1},
		{append([]string{"a", "b"}, nine...), thirteen[:4], []int{1, 3, 5}, 20},
	} {
		t.Run(fmt.Sprintf("%d×%d×%d", len(c.workloads), len(c.nemeses), len(c.sizes)), func(t *testing.T) {
			runs := jepsen.Cover(7, c.workloads, c.nemeses, c.sizes)
			if len(runs) > c.most {
				t.Errorf("%d runs, more than %d", len(runs), c.most)
			}
			met := map[string]bool{}
			for _, r := range runs {
				met[fmt.Sprint(r.Nemesis, " at ", r.Nodes)] = true
				for _, w := range r.Workloads {
					met[w+" under "+r.Nemesis] = true
					met[fmt.Sprint(w, " at ", r.Nodes)] = true
				}
			}
			want := func(pair string) {
				if !met[pair] {
					t.Errorf("nothing covers %s", pair)
				}
			}
			for _, n := range c.nemeses {
				for _, size := range c.sizes {
					want(fmt.Sprint(n, " at ", size))
				}
				for _, w := range c.workloads {
					want(w + " under " + n)
				}
			}
			for _, w := range c.workloads {
				for _, size := range c.sizes {
					want(fmt.Sprint(w, " at ", size))
				}
			}
		})
	}
}

func TestACoverIsTheSameForTheSameSeed(t *testing.T) {
	keys := func(seed uint64) (keys []string) {
		for _, r := range jepsen.Cover(seed, nine, thirteen, []int{1, 3, 5}) {
			keys = append(keys, r.Key())
		}
		return keys
	}
	if !slices.Equal(keys(3), keys(3)) {
		t.Error("one seed gave two covers")
	}
	if slices.Equal(keys(3), keys(4)) {
		t.Error("two seeds gave one cover")
	}
	seen := map[string]bool{}
	for _, k := range keys(3) {
		if seen[k] {
			t.Errorf("two runs are called %s", k)
		}
		seen[k] = true
	}
}
