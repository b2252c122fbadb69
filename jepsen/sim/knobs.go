package sim

import (
	"math/rand/v2"
	"time"

	"dormouse/config"
)

// Knobs are the settings of one host, drawn from the seed. Small ones make rare paths
// common.
type Knobs struct {
	SnapshotBytes   int64         `json:"snapshot_bytes"`
	SnapshotEntries int64         `json:"snapshot_entries"`
	TrailingBytes   int64         `json:"trailing_bytes"`
	TrailingEntries int64         `json:"trailing_entries"`
	SegmentBytes    int           `json:"segment_bytes"` // of the log
	CacheBytes      int64         `json:"cache_bytes"`
	Timing          string        `json:"timing"` // of elections; one for all hosts
	Sync            time.Duration `json:"sync"`   // mean time of a sync
	LeaderWrite     string        `json:"leader_write"`
	Decide          string        `json:"decide"`
}

// drawKnobs draws the settings of a host.
func drawKnobs(draw *rand.Rand, timing string) Knobs {
	return Knobs{
		SnapshotBytes:   oneOf[int64](draw, 64<<10, 256<<10, 4<<20),
		SnapshotEntries: oneOf[int64](draw, 50, 50, 200, 2000),
		TrailingBytes:   oneOf[int64](draw, 16<<10, 64<<10, 1<<20),
		TrailingEntries: oneOf[int64](draw, 1, 5, 50),
		SegmentBytes:    oneOf(draw, 32<<10, 128<<10, 1<<20),
		CacheBytes:      oneOf[int64](draw, 1<<20, 32<<20, 32<<20, 32<<20),
		Timing:          timing,
		Sync:            oneOf(draw, 100*time.Microsecond, time.Millisecond, 4*time.Millisecond),
		LeaderWrite:     oneOf(draw, config.LeaderWriteParallel, config.LeaderWriteFirst),
		Decide:          oneOf(draw, config.DecideLeader, config.DecideEach),
	}
}

// oneOf draws one of the values.
func oneOf[T any](draw *rand.Rand, all ...T) T { return all[draw.IntN(len(all))] }

// between draws a duration, evenly.
func between(draw *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(draw.Int64N(int64(high-low)+1))
}
