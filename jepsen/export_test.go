package jepsen

import (
	"context"
	"time"

	"dormouse/jepsen/history"
)

// RunCoverWith runs a cover with another runner.
var RunCoverWith = runCover

// Level reports whether samples agree.
var Level = level

// Disturb runs the hooks of a target for the duration long.
func Disturb(ctx context.Context, t Target, long time.Duration, record *history.Recorder) error {
	s := &targetStage{target: t, long: long}
	return s.disturb(ctx, record, func(string) {})
}

// ScopeOf returns the scope of a workload's keys in a run that started at began.
func ScopeOf(seed uint64, began time.Time, workload string) string {
	return (&run{id: runID(seed, began)}).scope(workload)
}
