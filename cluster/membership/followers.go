package membership

import (
	"maps"
	"slices"
	"sync"
	"time"

	"dormouse/agent/layout"
)

const (
	// steadyMin is how many checks in a row must find a node caught up before it
	// gets a vote.
	steadyMin = 3
)

// Followers is what the leader's last round of requests found out about the other
// nodes. It knows them by incarnation: what a node had caught up with does not
// hold for a later incarnation of it. Its methods may be called concurrently.
type Followers struct {
	mu         sync.Mutex
	nodes      map[string]follower  // by incarnation; guarded by mu
	unanswered map[string]time.Time // since when a node has not answered, by incarnation; guarded by mu
}

type follower struct {
	applied uint64
	steady  int           // checks in a row that found it caught up
	flush   time.Duration // PeerStatus.FlushTime
}

// NewFollowers returns an empty set.
func NewFollowers() *Followers {
	return &Followers{nodes: make(map[string]follower), unanswered: make(map[string]time.Time)}
}

// applied returns a node's applied index; ok is false if the node did not answer
// the last request.
func (f *Followers) applied(incarnation string) (index uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, ok := f.nodes[incarnation]
	return n.applied, ok
}

// Slowest returns the lowest applied index; ok is false if no node answered.
func (f *Followers) Slowest() (index uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.nodes {
		if !ok || n.applied < index {
			index, ok = n.applied, true
		}
	}
	return index, ok
}

func (f *Followers) steady(incarnation string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nodes[incarnation].steady >= steadyMin
}

// flushTime returns how long a durable write takes a node; 0 if that is unknown.
func (f *Followers) flushTime(incarnation string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nodes[incarnation].flush
}

// note records one check of a node. A check without an answer clears the record.
func (f *Followers) note(incarnation string, answered bool, status PeerStatus, caughtUp bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !answered {
		delete(f.nodes, incarnation)
		if f.unanswered[incarnation].IsZero() {
			f.unanswered[incarnation] = time.Now()
		}
		return
	}
	delete(f.unanswered, incarnation)
	n := f.nodes[incarnation]
	n.applied, n.flush = status.AppliedIndex, status.FlushTime
	if n.steady++; !caughtUp {
		n.steady = 0
	}
	f.nodes[incarnation] = n
}

// silent returns for how long a node has not answered this leader.
func (f *Followers) silent(incarnation string, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	since, ok := f.unanswered[incarnation]
	if !ok {
		return 0
	}
	return now.Sub(since)
}

// keepOnly removes all nodes that are not members.
func (f *Followers) keepOnly(members []layout.Member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	gone := func(incarnation string) bool {
		return !slices.ContainsFunc(members, func(m layout.Member) bool { return m.Incarnation == incarnation })
	}
	maps.DeleteFunc(f.nodes, func(incarnation string, _ follower) bool { return gone(incarnation) })
	maps.DeleteFunc(f.unanswered, func(incarnation string, _ time.Time) bool { return gone(incarnation) })
}
