package proposer

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/cluster/raftlog"
	"dormouse/internal/seededbug"
)

const (
	// RoundDefault is the default of ReadIndexOptions.Round.
	RoundDefault = 250 * time.Millisecond
	// askOthersAfter is how long a round waits for the voters that it asks first. Then it
	// asks the others too.
	askOthersAfter = 2 * time.Millisecond
	// roundPause is how long reads go through the log after a round that failed:
	// voters of an older version do not know the request.
	roundPause = time.Second
)

// Voters asks other nodes for their current terms.
type Voters interface {
	// Term asks the node at addr who it is and which term it is in after the
	// call. It does not wait: it calls done exactly once. done must not block.
	Term(addr string, done func(node string, term uint64, err error))
}

// ReadIndexOptions configures a ReadIndex.
type ReadIndexOptions struct {
	Node   string
	Logs   raft.LogStore
	Voters Voters // nil on a node that is alone
	// Round bounds the wait for the voters' answers; 0 means RoundDefault. Reads of a round that
	// fails go through the log, and so do those of the next second.
	Round time.Duration
}

// ReadIndex implements the read index of Ongaro's dissertation (§6.4) with rounds
// of its own: acknowledgements of Raft's heartbeats may have been sent before the
// read began, or by nodes that do not vote (docs/hazards.md).
//
// The leader records the commit index, then asks the voters for their current
// terms. If a majority is still in the leader's term, no node had won a later term
// when the round began: a majority would have voted for it by then, among them a
// voter that answered, and a voter's term never runs back. So every commit that
// was acknowledged before the round was acknowledged by this leader or an earlier
// one, and is at or below the recorded index. A change of membership that is under
// way does not matter: it changes one voter, and the next change begins only when
// it is committed.
//
// All reads that wait share a round. No read joins a round that has been sent.
type ReadIndex struct {
	ReadIndexOptions
	p *Proposer // takes the reads of rounds that fail

	wake   chan struct{}   // capacity 1: a read waits
	resume time.Time       // reads go through the log until then; only Run uses it
	prompt []raft.ServerID // the voters that confirmed the last round; only Run uses it

	mu      sync.Mutex
	readers []chan reading // guarded by mu
	closed  bool           // guarded by mu
	noted   struct {       // the newest index up to committed that the machine applies; guarded by mu
		committed, index uint64
	}
}

// NewReadIndex returns a ReadIndex that falls back to p.
func NewReadIndex(o ReadIndexOptions, p *Proposer) *ReadIndex {
	if o.Round == 0 {
		o.Round = RoundDefault
	}
	return &ReadIndex{ReadIndexOptions: o, p: p, wake: make(chan struct{}, 1)}
}

// Barrier returns a read index: a read that began before the call is linearizable on a
// node that has applied it. Every commit that any leader acknowledged before the call is
// at or below that index. The error has code unavailable if this node does not lead.
func (x *ReadIndex) Barrier(ctx context.Context) (uint64, error) { return await(ctx, x.join) }

// join adds a read to the next round.
func (x *ReadIndex) join(wait chan reading) *agent.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed:
		return errStopping()
	case x.p.Term.Load() == nil:
		return ErrNotLeader()
	case len(x.readers) >= readersMax:
		return x.p.overloaded("reads")
	}
	x.readers = append(x.readers, wait)
	select {
	case x.wake <- struct{}{}:
	default:
	}
	return nil
}

// Run runs rounds while reads wait, until ctx ends.
func (x *ReadIndex) Run(ctx context.Context) error {
	defer x.close()
	for {
		select {
		case <-x.wake:
			runtime.Gosched() // reads that begin together share a round
		case <-ctx.Done():
			return nil
		}
		readers := x.take()
		if len(readers) == 0 {
			continue
		}
		index, ok := x.round(ctx)
		if seededbug.Is(seededbug.RoundJoinedLate) {
			readers = append(readers, x.take()...)
		}
		x.answer(ctx, readers, index, ok)
	}
}

// take returns the reads that wait, and clears them.
func (x *ReadIndex) take() []chan reading {
	x.mu.Lock()
	defer x.mu.Unlock()
	readers := x.readers
	x.readers = nil
	return readers
}

// close refuses the reads that wait and all that come later.
func (x *ReadIndex) close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	for _, r := range x.take() {
		r <- reading{err: errStopping()}
	}
}

// round returns the index at which reads that began before it may be served. ok is
// false if no majority has confirmed in time that this node still leads.
func (x *ReadIndex) round(ctx context.Context) (index uint64, ok bool) {
	term := x.p.Term.Load()
	if term == nil || time.Now().Before(x.resume) {
		return 0, false
	}
	if index, ok = x.applicable(x.p.Raft.CommitIndex()); !ok {
		return 0, false
	}
	if !x.confirmed(ctx, term.Number) || x.p.Term.Load() != term || x.p.Raft.CurrentTerm() != term.Number {
		x.resume = time.Now().Add(roundPause)
		return 0, false
	}
	x.p.Metrics.rounds.Add(1)
	return index, true
}

// applicable returns the newest entry, up to the committed one, that the state
// machine applies: a view at it includes all commits. Raft's own entries never
// reach the machine, so a reader could not wait for them.
//
// The leader's own applied index is no substitute: a follower may be ahead of it,
// and may have answered reads at a higher index.
func (x *ReadIndex) applicable(committed uint64) (index uint64, ok bool) {
	x.mu.Lock()
	noted := x.noted
	x.mu.Unlock()
	if noted.committed == committed {
		return noted.index, true
	}
	if index, ok = raftlog.NewestCommand(x.Logs, committed, x.p.Machine.Applied()); !ok {
		return 0, false
	}
	x.mu.Lock()
	x.noted.committed, x.noted.index = committed, index
	x.mu.Unlock()
	return index, true
}

// answer answers readers once index is applied here, or hands them to the log.
func (x *ReadIndex) answer(ctx context.Context, readers []chan reading, index uint64, ok bool) {
	if !ok {
		x.p.joinAll(readers)
		return
	}
	tell := func() {
		for _, r := range readers {
			r <- reading{index: index}
		}
	}
	if x.p.Machine.Applied() >= index {
		tell()
		return
	}
	// The next round does not wait for this goroutine. It ends with ctx, or when
	// the entry, which is committed, is applied.
	go func() {
		if err := x.p.Machine.WaitApplied(ctx, index); err == nil {
			tell()
			return
		}
		for _, r := range readers {
			r <- reading{err: errStopping()}
		}
	}()
}
