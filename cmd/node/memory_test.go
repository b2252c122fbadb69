package main

import (
	"runtime/debug"
	"testing"

	"dormouse/config"
	"dormouse/node"
)

// What the environment sets stays; the rest follows from the memory that there is.
func TestTheHeapIsLimitedUnlessTheEnvironmentSaysHow(t *testing.T) {
	const limitBefore, gogcBefore = 1 << 40, 50
	oldLimit, oldGOGC := debug.SetMemoryLimit(-1), debug.SetGCPercent(gogcBefore)
	t.Cleanup(func() { debug.SetMemoryLimit(oldLimit); debug.SetGCPercent(oldGOGC) })
	c := config.Default()
	c.Storage.Memory = "2GiB"
	plan := node.MemoryPlan(c)
	for name, tc := range map[string]struct {
		environ []string
		limit   int64
		gogc    int
	}{
		"nothing":            {nil, plan.Go, 200},
		"others":             {[]string{"GOGCX=1", "XGOMEMLIMIT=1"}, plan.Go, 200},
		"how far it grows":   {[]string{"GOGC=50"}, plan.Go, gogcBefore},
		"the limit":          {[]string{"GOMEMLIMIT=1TiB"}, limitBefore, gogcBefore},
		"the limit and both": {[]string{"GOGC=50", "GOMEMLIMIT=1TiB"}, limitBefore, gogcBefore},
	} {
		debug.SetMemoryLimit(limitBefore)
		debug.SetGCPercent(gogcBefore)
		process{environ: tc.environ}.limitMemory(c)
		if limit, gogc := debug.SetMemoryLimit(-1), debug.SetGCPercent(gogcBefore); limit != tc.limit || gogc != tc.gogc {
			t.Errorf("the environment sets %s: the limit is %d and GOGC %d, want %d and %d", name, limit, gogc, tc.limit, tc.gogc)
		}
	}
}
