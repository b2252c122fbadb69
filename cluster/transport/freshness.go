package transport

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
)

// freshness records until when this node has applied all that was committed. It goes by the commit
// indexes that leaders send with entries, about every 100 ms also without any. A heartbeat proves
// only that there is a leader.
type freshness struct {
	mu      sync.Mutex
	term    uint64 // of the newest leader; guarded by mu
	own     uint64 // an entry of that term; 0 if none is known; guarded by mu
	waiting mark   // of a commit index that was not applied when last asked; zero if none; guarded by mu
	reached mark   // of one that was applied; guarded by mu
}

// mark is a commit index that a leader had at a time.
type mark struct {
	index uint64
	at    time.Time
}

// note records the commit index of a leader's call that arrived at now. applied reports whether
// this node has applied all entries up to an index.
//
// A new leader may not know yet what its predecessor committed. Its commit index counts once that
// reaches an entry of its own term.
func (f *freshness) note(call *raft.AppendEntriesRequest, now time.Time, applied func(index uint64) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if call.Term < f.term {
		return
	}
	if call.Term > f.term {
		f.term, f.own = call.Term, 0
	}
	if f.own == 0 {
		f.own = entryOfTerm(call)
	}
	index := call.LeaderCommitIndex
	if f.own == 0 || index < f.own {
		return
	}
	f.advance(applied)
	switch {
	case index <= f.reached.index:
		f.reached.at = now
	case f.waiting.index == 0 || f.waiting.index == index:
		f.waiting = mark{index, now}
		f.advance(applied)
	}
}

// entryOfTerm returns the index of an entry of the call's own term, or 0 if the call tells none.
func entryOfTerm(call *raft.AppendEntriesRequest) uint64 {
	if call.PrevLogTerm == call.Term {
		return call.PrevLogEntry
	}
	for _, entry := range call.Entries {
		if entry.Term == call.Term {
			return entry.Index
		}
	}
	return 0
}

// advance moves the mark that waits to reached, if its index is applied.
func (f *freshness) advance(applied func(index uint64) bool) {
	if f.waiting.index == 0 || !applied(f.waiting.index) {
		return
	}
	f.reached.index = max(f.reached.index, f.waiting.index)
	if f.waiting.at.After(f.reached.at) {
		f.reached.at = f.waiting.at
	}
	f.waiting = mark{}
}

// led records that this node has itself led until a time.
func (f *freshness) led(until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if until.After(f.reached.at) {
		f.reached.at = until
	}
}

// time returns the newest time for which this node has all that was committed, or zero.
func (f *freshness) time(applied func(index uint64) bool) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(applied)
	return f.reached.at
}

// UpToDate returns the newest time for which this node's state machine has applied all that was
// committed then, or zero if it is not known.
func (g *Guard) UpToDate() time.Time { return g.fresh.time(g.applied) }

// Led tells UpToDate that this node has itself led until a time.
func (g *Guard) Led(until time.Time) { g.fresh.led(until) }

// noteCommitted notes a leader's commit index in fresh.
func (g *Guard) noteCommitted(call *raft.AppendEntriesRequest) {
	g.committed.Store(max(g.committed.Load(), call.LeaderCommitIndex)) // pump alone writes it
	if call.Term >= g.stores.Votes.Term.Load() {
		g.fresh.note(call, time.Now(), g.applied)
	}
}

// applied reports whether the state machine has applied all entries up to a committed index. Raft's
// own entries never reach it.
func (g *Guard) applied(index uint64) bool {
	r := g.raft.Load()
	if r == nil || g.stores.Applied == nil {
		return false
	}
	if applied := g.stores.Applied(); applied < index {
		if r.AppliedIndex() < index { // the log may hold other entries up to there
			return false
		}
		newest, ok := raftlog.NewestCommand(g.stores.Logs, index, applied)
		return ok && newest <= applied
	}
	return true
}
