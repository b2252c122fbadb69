package timer

import (
	"sort"
	"time"

	"dormouse/agent"
	"dormouse/internal/cron"
)

// Action is what is to become of a timer that is due.
type Action struct {
	Fire bool           // send its signal, whose turn acknowledges; otherwise only acknowledge
	Ack  agent.AckTimer // of the pending occurrence
}

// Plan says what is to become of a timer that is due at a wall time of the log,
// by its policy for what was missed. An error is that its cron or zone cannot be
// read.
func Plan(t *agent.Timer, wall int64) (Action, error) {
	step := Action{Ack: agent.AckTimer{Manager: t.Manager, Key: t.Key, ID: t.ID, Generation: t.Generation, Instant: t.Next}}
	// An attempt that failed was made in time.
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
	case t.Next == 0: // not reckoned yet
		step.Ack.Next = after(t.UpdatedAt)
	case t.Missed == agent.MissedCatchUp:
		if oldest := oldestInstant(schedule, t.Next, wall, int(t.CatchUp)); t.Next < oldest && t.Attempts == 0 {
			step.Ack.Next = oldest
		} else {
			step.Fire, step.Ack.Next = true, after(t.Next)
		}
	case t.Missed == agent.MissedSkip && late:
		step.Ack.Next = after(wall - agent.TimerGrace.Milliseconds())
	default: // whatever else has fallen due since is passed over, or this stands for it
		step.Fire, step.Ack.Next = true, after(max(wall, t.Next))
	}
	return step, nil
}

// nextInstant is the first instant after another, in Unix ms; 0 where there is none.
func nextInstant(s *cron.Schedule, after int64) int64 {
	instant := s.Next(time.UnixMilli(after))
	if instant.IsZero() {
		return 0
	}
	return instant.UnixMilli()
}

// oldestInstant is the oldest of the last n instants up to wall, and no older than
// first, which is one.
func oldestInstant(s *cron.Schedule, first, wall int64, n int) int64 {
	// The fewer come after a moment the later it is, so that the last moment
	// after which n come is found in few steps, however many there are in all.
	span := int(wall - first)
	back := sort.Search(span, func(back int) bool { return hasInstants(s, wall-int64(back), wall, n) })
	if back >= span {
		return first
	}
	return nextInstant(s, wall-int64(back))
}

// hasInstants tells whether n instants or more come after a moment, up to wall.
func hasInstants(s *cron.Schedule, after, wall int64, n int) bool {
	for range n {
		if after = nextInstant(s, after); after == 0 || after > wall {
			return false
		}
	}
	return true
}

// retryDelay is how long after an attempt that failed the next one is made.
func retryDelay(attempts uint64) time.Duration {
	wait := agent.TimerRetryFirst
	for range min(attempts, agent.TimerAttemptsMax) {
		wait *= 2
	}
	return min(wait, agent.TimerRetryMost)
}
