package jepsen

import (
	"context"
	"time"

	"dormouse/jepsen/history"
)

// RunCoverWith makes the cover's runs with something that makes none.
var RunCoverWith = runCover

// Level reports whether nodes stand at one place.
var Level = level

// Disturb does to a target what its hooks say, for so long.
func Disturb(ctx context.Context, t Target, long time.Duration, record *history.Recorder) error {
	s := &targetStage{target: t, long: long}
	return s.disturb(ctx, record, func(string) {})
}

// ScopeOf is the scope of a workload's keys in a run that began then.
func ScopeOf(seed uint64, began time.Time, workload string) string {
	return (&run{id: runID(seed, began)}).scope(workload)
}
