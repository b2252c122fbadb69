package proposer

import (
	"context"
	"time"
)

// A log entry has costs besides its commits: a flush on each voter, and some forty
// wake-ups on three nodes. Callers that were answered usually call
// again at once. If the next entry were cut before they do, the callers would
// fall into two halves that take turns, and there would be twice as many entries.
// So the proposer answers first, and lingers until as many commits wait as were
// answered or waited before.

const (
	// lingerMax and lingerPart bound the linger: an absolute bound, and the part
	// of the time that the last entry took.
	lingerMax  = time.Millisecond
	lingerPart = 4
	// lingerSkipMax bounds the entries that are cut at once after lingers that
	// did not pay.
	lingerSkipMax = 64
)

// lingerStats records whether lingering pays.
type lingerStats struct {
	skipNext int           // entries to cut without a linger
	misses   int           // lingers in a row that did not pay
	queued   int           // commits that waited when the linger began
	pace     time.Duration // of the entry before the linger, for each commit
}

// note records that arrived commits came during a linger. The linger did not pay
// if they came no faster than the log takes them; after each such linger in a row,
// twice as many entries are cut without one.
func (l *lingerStats) note(arrived int, took time.Duration) {
	if time.Duration(arrived)*l.pace >= took {
		l.misses = 0
		return
	}
	l.misses++
	l.skipNext = min(1<<l.misses, lingerSkipMax)
}

// expect decides whether to linger once settled is answered, and for how many
// commits. It does not linger for one caller alone, nor while a read or a remote
// node waits: a remote node learns from the next entry that settled is committed,
// and calls again after that.
func (p *Proposer) expect(settled *batch) bool {
	if p.linger.skipNext > 0 {
		p.linger.skipNext--
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	answered := len(settled.done)
	expected := min(p.queue.count+answered, p.queue.most())
	if p.queue.shared > 0 && p.queue.count > 0 { // what is left of one tenant's commits would make others wait
		return false
	}
	if answered == 0 || expected < 2 || settled.err != nil || p.mustAnnounce() {
		return false
	}
	p.linger.queued, p.linger.pace = p.queue.count, settled.took/time.Duration(answered)
	p.expected = expected
	if p.complete() {
		p.expected = 0
	}
	return p.expected > 0
}

// mustAnnounce reports whether a remote node waits to learn what is committed.
// Only Run calls it.
func (p *Proposer) mustAnnounce() bool { return p.announceAt.Load() > p.announced }

// complete reports whether all expected commits have come, an entry is full, or a
// linger must end. Callers hold mu.
func (p *Proposer) complete() bool {
	return p.queue.count >= p.expected || p.queue.bytes >= BatchBytesMax || len(p.readers) > 0 || p.closed != nil
}

// lingerFor answers settled and waits until the expected commits have come, or
// for the bound of a linger.
func (p *Proposer) lingerFor(ctx context.Context, settled *batch) {
	began := time.Now()
	settled.answer()
	enough := time.NewTimer(min(lingerMax, settled.took/lingerPart))
	defer enough.Stop()
	for late := false; ; {
		p.mu.Lock()
		if late || p.complete() || p.mustAnnounce() {
			p.linger.note(p.queue.count-p.linger.queued, time.Since(began))
			p.expected = 0
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		select {
		case <-p.wake:
		case <-enough.C:
			late = true
		case <-ctx.Done():
			late = true
		}
	}
}
