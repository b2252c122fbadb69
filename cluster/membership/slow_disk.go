package membership

import (
	"context"
	"time"
)

const (
	// slowFlushMin is the shortest write that makes a disk slow: a busy one is often
	// above a tenth of it.
	slowFlushMin = 50 * time.Millisecond
	// slowFlushFactor is how many times longer than on another voter a leader's writes
	// take, if its disk is slow.
	slowFlushFactor = 4
	// slowRounds is how many rounds of duties in a row, half a second apart, must find
	// the disk slow.
	slowRounds = 20
)

// fasterVoter returns the voter whose disk is the fastest, if a leader whose writes take
// own is slow beside it; otherwise "". Each voter writes the same entries, so the times
// compare. Voters without a time have not answered or have written nothing.
func fasterVoter(own time.Duration, others map[string]time.Duration) string {
	best := ""
	for id, took := range others {
		if took > 0 && (best == "" || took < others[best] || took == others[best] && id < best) {
			best = id
		}
	}
	if best == "" || own < slowFlushMin || own < slowFlushFactor*others[best] {
		return ""
	}
	return best
}

// leaveSlowDisk hands leadership over if this node's disk has been slow for slowRounds.
func (l *Leader) leaveSlowDisk(ctx context.Context) {
	others := make(map[string]time.Duration)
	rows := l.rows()
	for _, v := range l.OtherVoters(l.Self.Node) {
		others[string(v.ID)] = l.Followers.flushTime(rows[string(v.ID)].Incarnation)
	}
	to := fasterVoter(l.Stores.FailStop.FlushTime(), others)
	if to == "" {
		l.slow = 0
		return
	}
	if l.slow++; l.slow < slowRounds {
		return
	}
	l.slow = 0
	l.Logger.Warn("the disk of this node is slow: it hands leadership over",
		"to", to, "write", l.Stores.FailStop.FlushTime(), "write_there", others[to])
	if err := l.Handover.To(ctx, to); err != nil {
		l.Logger.Warn("leadership was not handed over", "to", to, "error", err)
	}
}
