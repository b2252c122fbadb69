// Package router serves the whole contract on any node. Commits go to the leader. Reads are
// answered here at an index that the leader has confirmed.
//
// The router retries a commit that was definitely not applied (no leader yet, leadership moves)
// for a bounded time, so that an election looks like a slow call. It never retries a commit that
// may have been applied: it returns the error unknown, and the caller may retry with the same
// request id.
package router

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/internal/seededbug"
)

// Bounds of waiting time and memory.
const (
	// leaderWaitTimeout is how long a call waits for a leader. It is longer than two elections at
	// default timing, and shorter than the default call timeout of 10 s. So a caller gets
	// "unavailable" (definitely not applied) and not "unknown".
	leaderWaitTimeout = 8 * time.Second

	// waitingMax bounds the commits that wait for a leader; more are refused as overloaded.
	waitingMax = 16_384
)

// Local is this node's own store.
type Local interface {
	agent.Submitter
	Supports(c *agent.Commit) error // whether a leader of any node's version would decide the commit alike
	Applied() uint64                // the newest entry that reads on this node see
	ReadAt(ctx context.Context, index uint64, r agent.Reads) (agent.Answers, error)
	WatchFrom(ctx context.Context, barrier func(context.Context) (uint64, error), w agent.Watch) iter.Seq2[agent.Event, error]
}

// Group is this node's view of its Raft group.
type Group interface {
	IsLeader() bool                 // a hint
	Leader() (id, addr string)      // a hint; "" if unknown
	LeaderChanged() <-chan struct{} // closed at the next change of these
	Barrier(ctx context.Context) (uint64, error)
}

// Peers reaches other nodes by their peer address.
type Peers interface {
	Barrier(ctx context.Context, addr string, applied uint64) (uint64, error) // applied: by this node
	Submit(ctx context.Context, addr string, c agent.Commit, done func(agent.Result, error))

	// Leads records the address of the current leader. Commits that were submitted to another node
	// and get no answer soon fail as unknown.
	Leads(addr string)
}

// Router implements agent.Submitter. It may be used concurrently.
type Router struct {
	local Local
	group Group
	peers Peers

	waiting atomic.Int64 // commits waiting for a leader; at most waitingMax
	rounds  rounds

	ctx    context.Context //nolint:containedctx // the router's own context; waiting retries and rounds end with it
	cancel context.CancelFunc

	mu          sync.Mutex
	closed      bool               // guarded by mu
	work        sync.WaitGroup     // rounds and waiting commits; Add is guarded by mu and !closed
	asked       string             // the leader that the latest round asks; guarded by mu
	cancelRound context.CancelFunc // ends that round; guarded by mu
}

// New returns a router; Close ends its goroutines.
func New(local Local, group Group, peers Peers) *Router {
	r := &Router{local: local, group: group, peers: peers, cancelRound: func() {}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.rounds.ask, r.rounds.begin, r.rounds.end = r.askLeader, r.begin, r.work.Done
	return r
}

// Close refuses commits and reads that wait for a leader, and returns when all have ended.
func (r *Router) Close() {
	r.cancel()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.work.Wait()
}

// begin registers work that Close waits for; it returns false once closed.
func (r *Router) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.work.Add(1)
	}
	return !r.closed
}

// Commit implements agent.Service.
func (r *Router) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	return agent.Await(ctx, r, c)
}

// Read implements agent.Service.
func (r *Router) Read(ctx context.Context, reads agent.Reads) (agent.Answers, error) {
	if err := reads.Validate(); err != nil {
		return agent.Answers{}, err
	}
	var index uint64
	switch {
	case reads.Stale:
	case seededbug.Is(seededbug.FollowerLocalRead) && !r.group.IsLeader():
	case seededbug.Is(seededbug.StaleThaw) && thaws(reads):
	default:
		var err error
		if index, err = r.Barrier(ctx); err != nil {
			return agent.Answers{}, err
		}
	}
	return r.local.ReadAt(ctx, index, reads)
}

// Watch implements agent.Service.
func (r *Router) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	return r.local.WatchFrom(ctx, r.Barrier, w)
}
