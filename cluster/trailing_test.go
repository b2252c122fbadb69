package cluster

import (
	"testing"

	"dormouse/agent/layout"
)

// A follower that catches up must not be outrun by the log (docs/hazards.md, S7).
func TestTheLogWaitsForAFollowerThatCatchesUp(t *testing.T) {
	c := Compaction{SnapshotBytes: 50_000, TrailingBytes: 1000, TrailingEntries: 500}
	newest := func(bytes int64) uint64 { return uint64(bytes / 10) } // entries of ten bytes
	for name, row := range map[string]struct {
		slowest  uint64
		answered bool
		want     uint64
	}{
		"no follower answers":          {0, false, 100},
		"all are close":                {9950, true, 100},
		"just within":                  {9900, true, 100},
		"one is behind":                {9000, true, 1000 + layout.LagMax},
		"one is behind what may stay":  {1000, true, 5000},
		"one is ahead of what we know": {10_001, true, 100},
	} {
		if got := c.trailing(10_000, row.slowest, row.answered, newest); got != row.want {
			t.Errorf("%s: %d entries stay, want %d", name, got, row.want)
		}
	}
	tiny := func(bytes int64) uint64 { return uint64(bytes) }
	if got := c.trailing(10_000, 9999, true, tiny); got != 500 {
		t.Errorf("of tiny entries %d stay, want 500", got)
	}
	if got := c.trailing(10_000, 9999, true, func(int64) uint64 { return 0 }); got != 1 {
		t.Errorf("of huge entries %d stay, want 1", got)
	}
}
