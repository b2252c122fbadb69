package timer

import (
	"sort"
	"time"

	"dormouse/agent"
	"dormouse/internal/cron"
)

// Action is what to do with a due timer.
type Action struct {
	Fire bool           // send its signal, and let the turn acknowledge; otherwise only acknowledge
	Ack  agent.AckTimer // of the pending occurrence
}

// Plan returns the action for a timer that is due at a wall time of the log, by
// its policy for missed occurrences. It returns an error if its cron expression
// or time zone is invalid.
func Plan(t *agent.Timer, wall int64) (Action, error) {
	step := Action{Ack: agent.AckTimer{Manager: t.Manager, Key: t.Key, ID: t.ID, Generation: t.Generation, Instant: t.Next}}
	// An occurrence with a failed attempt was not missed.
	late := t.Attempts == 0 && t.Next <= wall-agent.TimerGrace.Milliseconds()
	if t.Cron == "" {
		step.Fire = !late || t.Missed != agent.MissedSkip
		return step, nil
	}
	schedule, err := cron.Parse(t.Cron, t.TimeZone)
	if err != nil {
		return Action{}, err
	}
	after := func(ms int64) int64 { return nextInstant(schedule, ms) }
	switch {
	case t.Next == 0: // no occurrence is computed yet
		step.Ack.Next = after(t.UpdatedAt)
	case t.Missed == agent.MissedCatchUp:
		if oldest := oldestInstant(schedule, t.Next, wall, int(t.CatchUp)); t.Next < oldest && t.Attempts == 0 {
			step.Ack.Next = oldest
		} else {
			step.Fire, step.Ack.Next = true, after(t.Next)
		}
	case t.Missed == agent.MissedSkip && late:
		step.Ack.Next = after(wall - agent.TimerGrace.Milliseconds())
	default: // this occurrence stands in for all that fell due since, or they are skipped
		step.Fire, step.Ack.Next = true, after(max(wall, t.Next))
	}
	return step, nil
}

// nextInstant returns the first instant after a time, in Unix ms; 0 if there is
// none.
func nextInstant(s *cron.Schedule, after int64) int64 {
	instant := s.Next(time.UnixMilli(after))
	if instant.IsZero() {
		return 0
	}
	return instant.UnixMilli()
}

// oldestInstant returns the oldest of the last n instants up to wall, but none
// before first, which is an instant.
func oldestInstant(s *cron.Schedule, first, wall int64, n int) int64 {
	// The number of instants after a time decreases with the time, so a binary
	// search finds the last time that n instants follow.
	span := int(wall - first)
	back := sort.Search(span, func(back int) bool { return hasInstants(s, wall-int64(back), wall, n) })
	if back >= span {
		return first
	}
	return nextInstant(s, wall-int64(back))
}

// hasInstants reports whether at least n instants follow a time, up to wall.
func hasInstants(s *cron.Schedule, after, wall int64, n int) bool {
	for range n {
		if after = nextInstant(s, after); after == 0 || after > wall {
			return false
		}
	}
	return true
}

// retryDelay returns the delay after a failed attempt.
func retryDelay(attempts uint64) time.Duration {
	wait := agent.TimerRetryFirst
	for range min(attempts, agent.TimerAttemptsMax) {
		wait *= 2
	}
	return min(wait, agent.TimerRetryMost)
}
