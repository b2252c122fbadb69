package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/internal/seededbug"
)

// How a linearizable read learns that nobody else had come to lead when it began.
const (
	BarrierIndex = "index" // the voters are asked for their terms
	BarrierLog   = "log"   // an entry is written
)

const (
	// roundMax is how long the voters have to answer. Reads that no round could
	// answer go through the log.
	roundMax = 250 * time.Millisecond
	// roundRest is how long reads go through the log at once after such a round:
	// there may be voters of a version that does not know the question.
	roundRest = time.Second
)

// readIndex is the read index of Ongaro's dissertation (§6.4), with rounds of
// its own: acknowledgements of Raft's heartbeats may have been sent before the
// read began, or by nodes that do not vote (HAZARDS §0.2).
//
// The leader notes how far the log is committed, then asks every voter for its
// current term. Where a majority of them is still in the leader's own term,
// nobody had won a later one when the round began: a majority would have voted
// for it by then, among them a voter that answered, and a voter's term never
// runs back. So what was acknowledged before the round was acknowledged by this
// leader or by one before it, and is below the index that was noted. That a
// change of membership may be under way alters nothing, since it changes one
// voter, and the next begins only when it is committed.
//
// All reads that wait share a round, and none joins one that has been sent.
type readIndex struct {
	self    raft.ServerID
	term    *atomic.Pointer[readiness] // nil: this node leads no term
	raft    *raft.Raft
	logs    raft.LogStore
	machine StateMachine
	peers   Peers
	log     *proposer // takes the reads that no round could answer
	metrics *metrics

	wake  chan struct{} // capacity 1: somebody waits
	rest  time.Time     // reads go through the log until then; run's own
	noted struct {      // the newest index up to committed that the machine applies; run's own
		committed, index uint64
	}

	mu      sync.Mutex
	readers []chan reading // guarded by mu
	closed  bool           // guarded by mu
}

// join lets a read share the next round.
func (x *readIndex) join(wait chan reading) *agent.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed:
		return errStopping()
	case x.term.Load() == nil:
		return errNotLeader()
	case len(x.readers) >= readersMax:
		return x.log.overloaded("reads")
	}
	x.readers = append(x.readers, wait)
	select {
	case x.wake <- struct{}{}:
	default:
	}
	return nil
}

// run does rounds while anybody waits, until ctx ends.
func (x *readIndex) run(ctx context.Context) error {
	defer x.close()
	for {
		select {
		case <-x.wake:
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

// take is all who wait.
func (x *readIndex) take() []chan reading {
	x.mu.Lock()
	defer x.mu.Unlock()
	readers := x.readers
	x.readers = nil
	return readers
}

// close refuses all who wait, and who come from now on.
func (x *readIndex) close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	for _, r := range x.take() {
		r <- reading{err: errStopping()}
	}
}

// round is the index that a read which began before it may be served at. False
// means that no majority has answered in time that this node still leads.
func (x *readIndex) round(ctx context.Context) (index uint64, ok bool) {
	term := x.term.Load()
	if term == nil || time.Now().Before(x.rest) {
		return 0, false
	}
	if index, ok = x.applicable(x.raft.CommitIndex()); !ok {
		return 0, false
	}
	if !x.confirmed(ctx, term.term) || x.term.Load() != term || x.raft.CurrentTerm() != term.term {
		x.rest = time.Now().Add(roundRest)
		return 0, false
	}
	x.metrics.rounds.Add(1)
	return index, true
}

// applicable is the newest entry, up to the committed one, that reaches the
// state machine: a view at it misses nothing. What Raft writes for itself
// reaches no machine, so nobody could wait for that.
//
// The leader's own applied index is no substitute: a follower may be ahead of
// it, and may have answered reads there.
func (x *readIndex) applicable(committed uint64) (index uint64, ok bool) {
	if x.noted.committed == committed {
		return x.noted.index, true
	}
	if index, ok = newestCommand(x.logs, committed, x.machine.Applied()); !ok {
		return 0, false
	}
	x.noted.committed, x.noted.index = committed, index
	return index, true
}

// confirmed asks the voters, and tells whether a majority of them is in term.
func (x *readIndex) confirmed(ctx context.Context, term uint64) bool {
	configured := x.raft.GetConfiguration()
	if configured.Error() != nil {
		return false
	}
	servers := configured.Configuration().Servers
	answers := make(chan bool, len(servers))
	voters, yes, asked := 0, 0, 0
	for _, s := range servers {
		if s.Suffrage == raft.Voter {
			voters++
		} else if !seededbug.Is(seededbug.NonVotersConfirm) {
			continue
		}
		switch {
		case s.ID == x.self:
			yes++ // its own term is looked at last
		case x.peers != nil:
			asked++
			x.peers.Term(string(s.Address), func(node string, in uint64, err error) {
				answers <- err == nil && node == string(s.ID) && (in == term || seededbug.Is(seededbug.AnyTermConfirms))
			})
		}
	}
	majority := voters/2 + 1
	overdue := time.NewTimer(roundMax)
	defer overdue.Stop()
	for ; yes < majority && yes+asked >= majority; asked-- {
		select {
		case confirms := <-answers:
			if confirms {
				yes++
			}
		case <-overdue.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return yes >= majority
}

// answer answers readers once index is applied here, or hands them to the log.
func (x *readIndex) answer(ctx context.Context, readers []chan reading, index uint64, ok bool) {
	if !ok {
		x.log.joinAll(readers)
		return
	}
	tell := func() {
		for _, r := range readers {
			r <- reading{index: index}
		}
	}
	if x.machine.Applied() >= index {
		tell()
		return
	}
	// The next round need not wait for it. It ends with ctx, or when the entry,
	// which is committed, is applied.
	go func() {
		if err := x.machine.WaitApplied(ctx, index); err == nil {
			tell()
			return
		}
		for _, r := range readers {
			r <- reading{err: errStopping()}
		}
	}()
}

// Term is this node's current term in Raft, for a leader that asks; "" and 0
// where it may not vote.
func (g *Group) Term() (node string, term uint64) {
	if !g.stores.MayVote() {
		return "", 0
	}
	return g.o.NodeID, g.raft.CurrentTerm()
}
