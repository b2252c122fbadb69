package cluster

import (
	"context"
	"time"
)

// A log entry costs much beside its commits: two flushes one after the other, and
// some forty wake-ups on three nodes. Callers that were answered call again, as
// a rule; were the next entry cut before any of them has, callers would fall
// into two halves which take turns, and entries would be twice as many. So the
// proposer answers first, and waits a moment until as many commits are there as
// were answered and waited already.

const (
	// gatherMax bounds the wait, and gatherPart of an entry's time does.
	gatherMax  = time.Millisecond
	gatherPart = 4
	// gatherRestMax bounds the entries that are cut at once because waits were in vain.
	gatherRestMax = 64
)

// returns notes whether callers come back while they are waited for.
type returns struct {
	rest   int           // entries that are cut without a wait from now on
	misses int           // waits in vain, one after the other
	had    int           // commits that waited when the wait began
	pace   time.Duration // of the entry before the wait, per commit
}

// note takes down that so many commits came while so long was waited. In vain it
// was where they came no faster than the log takes them anyway; after each such
// wait twice as many entries go without.
func (r *returns) note(came int, took time.Duration) {
	if time.Duration(came)*r.pace >= took {
		r.misses = 0
		return
	}
	r.misses++
	r.rest = min(1<<r.misses, gatherRestMax)
}

// hope tells whether to gather once settled is answered: not for one caller
// alone, and not where a read waits, or somebody on another node, who hears that
// settled is committed by the next entry and calls again after that.
func (p *proposer) hope(settled *batch) bool {
	if p.returns.rest > 0 {
		p.returns.rest--
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	answered := len(settled.done)
	hoped := min(len(p.queue)+answered, batchCommitsMax)
	if answered == 0 || hoped < 2 || settled.err != nil || p.awaited() {
		return false
	}
	p.returns.had, p.returns.pace = len(p.queue), settled.took/time.Duration(answered)
	p.hoped = hoped
	if p.gathered() {
		p.hoped = 0
	}
	return p.hoped > 0
}

// awaited tells whether somebody on another node waits to hear what is committed.
// Only run calls it.
func (p *proposer) awaited() bool { return p.asked.Load() > p.told }

// gathered tells whether all that is waited for has come, or an entry is full,
// or somebody should not wait. Callers hold mu.
func (p *proposer) gathered() bool {
	return len(p.queue) >= p.hoped || p.bytes >= batchBytesMax || len(p.readers) > 0 || p.closed != nil
}

// gather answers settled and waits until gathered, for a moment.
func (p *proposer) gather(ctx context.Context, settled *batch) {
	began := time.Now()
	settled.answer()
	enough := time.NewTimer(min(gatherMax, settled.took/gatherPart))
	defer enough.Stop()
	for late := false; ; {
		p.mu.Lock()
		if late || p.gathered() || p.awaited() {
			p.returns.note(len(p.queue)-p.returns.had, time.Since(began))
			p.hoped = 0
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
