// Package router serves the whole contract on any node: commits go to the
// leader, reads are answered here at an index that the leader vouches for.
//
// What is surely not applied (no leader yet, leadership moving) is tried again
// for a bounded time, so that an election looks like a slow call. What may
// have been applied never is: that is unknown, and the caller's to retry under
// the same request id.
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

// Bounds of the router's patience and memory.
const (
	// patience is how long a call waits for a leader: past two elections at
	// default timing, and below the default call timeout of 10 s, so that a
	// caller hears "unavailable" (surely not applied) and not "unknown".
	patience = 8 * time.Second

	// waitingMax bounds the commits that wait for a leader at once; one more
	// is refused as overloaded.
	waitingMax = 16_384
)

// Local is this node's own store.
type Local interface {
	agent.Submitter
	Applied() uint64 // the newest entry that reads here see
	ReadAt(ctx context.Context, index uint64, r agent.Reads) (agent.Answers, error)
	WatchFrom(ctx context.Context, barrier func(context.Context) (uint64, error), w agent.Watch) iter.Seq2[agent.Event, error]
}

// Group is this node's view of its Raft group.
type Group interface {
	IsLeader() bool                 // a hint
	Leader() (id, addr string)      // a hint; "" where none is known
	LeaderChanged() <-chan struct{} // closed at the next change of these
	Barrier(ctx context.Context) (uint64, error)
}

// Peers reaches other nodes by their peer address.
type Peers interface {
	Barrier(ctx context.Context, addr string, applied uint64) (uint64, error) // applied: by this node
	Submit(ctx context.Context, addr string, c agent.Commit, done func(agent.Result, error))

	// Leads tells who leads now. What was submitted to any other is settled soon
	// after, as unknown where it cannot answer.
	Leads(addr string)
}

// Router implements agent.Submitter. It may be used concurrently.
type Router struct {
	local Local
	group Group
	peers Peers

	waiting atomic.Int64 // commits waiting for a leader; at most waitingMax
	rounds  rounds

	ctx    context.Context //nolint:containedctx // the router's own life, which waiting retries and rounds end with
	cancel context.CancelFunc

	mu      sync.Mutex
	closed  bool               // guarded by mu
	work    sync.WaitGroup     // rounds and waiting commits; Add is guarded by mu and !closed
	asked   string             // the leader that the latest round asks; guarded by mu
	forsake context.CancelFunc // ends that round; guarded by mu
}

// New makes a router; Close ends what it started.
func New(local Local, group Group, peers Peers) *Router {
	r := &Router{local: local, group: group, peers: peers, forsake: func() {}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.rounds.ask, r.rounds.begin, r.rounds.end = r.askLeader, r.begin, r.work.Done
	return r
}

// Close refuses what still waits for a leader and returns when it has ended.
func (r *Router) Close() {
	r.cancel()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.work.Wait()
}

// begin takes on one piece of work that Close waits for; false once closed.
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
