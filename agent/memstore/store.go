package memstore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/agent"
)

// Store is an agent.Service that keeps all data in memory. Set its exported fields
// before the first call. All methods may be called concurrently.
type Store struct {
	// Clock returns the current time; nil means time.Now. It may call Index, but no
	// other method of the store. Log time never goes back, even if the clock does.
	Clock func() time.Time
	// Node is the name of the node in the answers to reads.
	Node string
	// Hooks let a test observe and fail calls.
	Hooks

	index atomic.Uint64 // changed under mu

	mu       sync.Mutex
	now      int64         // log time of the last change, Unix ms
	passed   time.Duration // added to the clock by Pass
	minted   uint64        // the newest incarnation
	epoch    uint64        // the newest epoch of a claim
	writes   uint64        // of memories, so far
	scopes   map[string]*scope
	clients  map[clientName]*client
	feeds    map[string]feed
	tokens   tokens        // of all scopes
	defaults agent.Policy  // of scopes without a policy of their own
	changed  chan struct{} // closed by each change, then replaced
}

var _ agent.Submitter = (*Store)(nil)

// Hooks are functions that a test sets to observe calls, or to make them fail. A nil
// function is not called. The store's lock is not held during the call.
type Hooks struct {
	// BeforeCommit is called with each valid commit. The commit is not applied if it
	// returns an error, and the caller gets that error.
	BeforeCommit func(ctx context.Context, c agent.Commit) error
	// AfterCommit is called when a commit was applied or refused. The caller gets its
	// error instead of the outcome.
	AfterCommit func(ctx context.Context, c agent.Commit) error
	// BeforeRead is called with each valid request for reads. The caller gets its
	// error instead of the answers.
	BeforeRead func(ctx context.Context, r agent.Reads) error
}

// New returns an empty store.
func New() *Store {
	return &Store{
		Node: "n1", scopes: map[string]*scope{}, clients: map[clientName]*client{}, feeds: map[string]feed{}, changed: make(chan struct{}),
	}
}

// Index returns the log index of the last change.
func (st *Store) Index() uint64 { return st.index.Load() }

// Pass advances the store's time by span past its clock. What is due by then expires.
func (st *Store) Pass(span time.Duration) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.passed += span
	st.refresh()
	st.wake() // a watch may wait for an instant that is nearer now
}

// wall returns the current time in Unix ms.
func (st *Store) wall() int64 {
	clock := st.Clock
	if clock == nil {
		clock = time.Now
	}
	return max(st.now, clock().Add(st.passed).UnixMilli())
}

// newIncarnation returns a number that was not used before. It is the current index if
// that is unused, which keeps the numbers in tests readable.
func (st *Store) newIncarnation() uint64 {
	st.minted = max(st.minted+1, st.index.Load())
	return st.minted
}

// newEpoch returns an epoch that was not used before; see newIncarnation.
func (st *Store) newEpoch() uint64 {
	st.epoch = max(st.epoch+1, st.index.Load())
	return st.epoch
}

// scope returns the scope of that name, or an empty one.
func (st *Store) scope(name string) *scope {
	if s := st.scopes[name]; s != nil {
		return s
	}
	return newScope(name)
}

// wake makes all watches look at the store again.
func (st *Store) wake() {
	close(st.changed)
	st.changed = make(chan struct{})
}
