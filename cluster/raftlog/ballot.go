package raftlog

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"dormouse/internal/seededbug"
)

// Where raft keeps its term and its vote in the stable store.
const (
	KeyCurrentTerm  = "CurrentTerm"
	keyLastVoteTerm = "LastVoteTerm"
)

var (
	// errMayNotVote answers votes while this node's log lacks what it acknowledged.
	errMayNotVote = errors.New("this node's log is incomplete: it may not vote until it has caught up")

	// ErrAstray answers votes while another process may have this node's.
	ErrAstray = errors.New("this node is known by another address: it may not vote until that is settled")

	// errTermBack answers a term that would go back.
	errTermBack = errors.New("the term would go back")
)

// ballot is the stable store under raft's term and vote.
//
// It is the last line where votes are refused: a lone voter asks nobody, so no
// transport can keep it from electing itself. And it makes a new term wait for
// a heartbeat that the guard handles off raft's main thread, so that the guard
// never acts upon a term and a state that are changing (see guard).
type ballot struct {
	raft.StableStore
	barred func() error // why this node may not vote, or nil
	latch  *latch
	End    func() // ends raft's main thread, on which it is called; nil where the caller is not raft

	Astray atomic.Bool // the log knows this node by another address; see astray.go

	Beat  sync.Mutex    // held by the guard around a heartbeat, and while the term grows
	Term  atomic.Uint64 // the highest that was saved
	voted atomic.Uint64 // the term of the newest vote
}

func (s *ballot) load() error {
	term, err := s.GetUint64([]byte(KeyCurrentTerm))
	if err != nil && !Absent(err) {
		return err
	}
	voted, err := s.GetUint64([]byte(keyLastVoteTerm))
	if err != nil && !Absent(err) {
		return err
	}
	s.Term.Store(term)
	s.voted.Store(voted)
	return nil
}

func (s *ballot) SetUint64(key []byte, value uint64) error {
	switch string(key) {
	case KeyCurrentTerm:
		return s.setTerm(value)
	case keyLastVoteTerm:
		if err := s.barred(); err != nil {
			return err
		}
		if s.Astray.Load() {
			return ErrAstray
		}
		if err := s.StableStore.SetUint64(key, value); err != nil {
			return err
		}
		s.voted.Store(value)
		return nil
	default:
		return s.StableStore.SetUint64(key, value)
	}
}

func (s *ballot) setTerm(term uint64) error {
	switch saved := s.Term.Load(); {
	case term == saved: // also what a heartbeat under the lock may do
		return nil
	case term < saved:
		return fmt.Errorf("%w: from %d to %d", errTermBack, saved, term)
	}
	s.Beat.Lock()
	defer s.Beat.Unlock()
	if err := s.StableStore.SetUint64([]byte(KeyCurrentTerm), term); err != nil {
		// Raft panics where its term cannot be saved, and a lone voter whose disk
		// has failed stands at once: the process would be gone before the node
		// could say what it ends of.
		if s.End != nil && s.latch.Failed() != nil {
			s.End()
		}
		return err
	}
	s.Term.Store(term)
	return nil
}

// authoredLogs lets no entry be written that this node made in a term that it
// did not win: what hashicorp/raft#695 makes of a deposed leader (HAZARDS R1).
// The guard prevents that; this stops the node, should it ever fail to.
type authoredLogs struct {
	raft.LogStore
	ballot  *ballot
	latch   *latch
	Offered *offers // nil until a guard tells which entries came from others
}

func (s *authoredLogs) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

func (s *authoredLogs) StoreLogs(logs []*raft.Log) error {
	if len(logs) == 0 || s.Offered == nil || s.Offered.has(logs[0]) || seededbug.Is(seededbug.UnguardedHeartbeat) {
		return s.LogStore.StoreLogs(logs)
	}
	for _, log := range logs {
		founding := log.Index == 1 && log.Type == raft.LogConfiguration
		if won := s.ballot.voted.Load(); log.Term != won && !founding {
			return s.latch.Poison(fmt.Errorf("log entry %d was made by this node in term %d, but the last election that it could have won was in term %d: it would overwrite another leader's entry (hashicorp/raft#695)", log.Index, log.Term, won))
		}
	}
	return s.LogStore.StoreLogs(logs)
}

// offers are the AppendEntries that raft is being asked to take.
type offers struct {
	mu   sync.Mutex
	open map[*raft.AppendEntriesRequest]struct{} // guarded by mu
}

// NewOffers returns an empty set of calls.
func NewOffers() *offers { return &offers{open: map[*raft.AppendEntriesRequest]struct{}{}} }

func (o *offers) Add(request *raft.AppendEntriesRequest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open[request] = struct{}{}
}

func (o *offers) Remove(request *raft.AppendEntriesRequest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, request)
}

// has tells whether entry is in one of the requests: the very entry, not one
// that is equal.
func (o *offers) has(entry *raft.Log) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for request := range o.open {
		at := int64(entry.Index) - int64(request.Entries[0].Index)
		if at >= 0 && at < int64(len(request.Entries)) && request.Entries[at] == entry {
			return true
		}
	}
	return false
}
