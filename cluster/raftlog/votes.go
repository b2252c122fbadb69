package raftlog

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"dormouse/internal/seededbug"
)

// Keys under which Raft keeps its term and its vote in the stable store.
const (
	KeyCurrentTerm  = "CurrentTerm"
	keyLastVoteTerm = "LastVoteTerm"
)

var (
	// errMayNotVote refuses votes while this node's log lacks entries that it has
	// acknowledged.
	errMayNotVote = errors.New("this node's log is incomplete: it may not vote until it has caught up")

	// ErrAddressConflict refuses votes while another process may have this node's
	// vote.
	ErrAddressConflict = errors.New("this node is known by another address: it may not vote until the leader has recorded the new one")

	// errTermBack refuses a term that is lower than the saved one.
	errTermBack = errors.New("the term would go back")
)

// VoteStore is the stable store for Raft's term and vote.
//
// It refuses votes that this node must not give. A lone voter asks no other node,
// so only the stable store can keep it from electing itself. A new term waits for
// a heartbeat that the guard handles off Raft's main thread, so that the guard
// never acts on a term and a state that are changing (see transport.Guard).
type VoteStore struct {
	raft.StableStore
	barred   func() error // why this node may not vote, or nil
	failStop *FailStop
	End      func() // ends raft's main thread, on which it is called; nil where the caller is not raft

	AddressConflict atomic.Bool // the log knows this node by another address; see membership/address.go

	Heartbeat sync.Mutex    // held by the guard during a heartbeat, and while the term grows
	Term      atomic.Uint64 // the highest that was saved
	voted     atomic.Uint64 // the term of the newest vote
}

func (s *VoteStore) load() error {
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

// SetUint64 implements raft.StableStore. It refuses a term that is lower than the saved
// one, and votes that this node must not give.
func (s *VoteStore) SetUint64(key []byte, value uint64) error {
	switch string(key) {
	case KeyCurrentTerm:
		return s.setTerm(value)
	case keyLastVoteTerm:
		if err := s.barred(); err != nil {
			return err
		}
		if s.AddressConflict.Load() {
			return ErrAddressConflict
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

func (s *VoteStore) setTerm(term uint64) error {
	switch saved := s.Term.Load(); {
	case term == saved: // a heartbeat may do this while the guard holds the lock
		return nil
	case term < saved:
		return fmt.Errorf("%w: from %d to %d", errTermBack, saved, term)
	}
	s.Heartbeat.Lock()
	defer s.Heartbeat.Unlock()
	if err := s.StableStore.SetUint64([]byte(KeyCurrentTerm), term); err != nil {
		// Raft panics if its term cannot be saved, and a lone voter whose disk has
		// failed stands for election at once: the process would end before the node
		// could report why.
		if s.End != nil && s.failStop.Failed() != nil {
			s.End()
		}
		return err
	}
	s.Term.Store(term)
	return nil
}

// ownEntryCheck refuses entries that this node made in a term that it did not win,
// which a deposed leader can do because of hashicorp/raft#695 (docs/hazards.md, R1).
// The guard prevents that; ownEntryCheck stops the node if the guard fails.
//
// It hands them to LeaderLogs to be written while they travel, unless this node is
// the only voter, they change who votes, or the node is set to write first.
type ownEntryCheck struct {
	*LeaderLogs
	votes      *VoteStore
	failStop   *FailStop
	Inbound    *InboundAppends // nil without a guard; the entries that came from others
	OthersVote func() bool     // whether a majority needs another node; nil means no
	first      bool            // entries are written before they are sent
}

func (s *ownEntryCheck) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

func (s *ownEntryCheck) StoreLogs(logs []*raft.Log) error {
	if len(logs) == 0 || s.Inbound == nil || s.Inbound.has(logs[0]) || seededbug.Is(seededbug.UnguardedHeartbeat) {
		return s.LeaderLogs.StoreLogs(logs)
	}
	sameVoters := true
	for _, log := range logs {
		sameVoters = sameVoters && log.Type != raft.LogConfiguration
		founding := log.Index == 1 && log.Type == raft.LogConfiguration
		if won := s.votes.voted.Load(); log.Term != won && !founding {
			return s.failStop.Poison(fmt.Errorf("log entry %d was made by this node in term %d, but the last election that it could have won was in term %d: it would overwrite another leader's entry (hashicorp/raft#695)", log.Index, log.Term, won))
		}
	}
	if !s.first && sameVoters && s.OthersVote != nil && s.OthersVote() {
		return s.StoreOwn(logs)
	}
	return s.LeaderLogs.StoreLogs(logs)
}

// InboundAppends is the set of AppendEntries calls that Raft is handling.
type InboundAppends struct {
	mu   sync.Mutex
	open map[*raft.AppendEntriesRequest]struct{} // guarded by mu
}

// NewInboundAppends returns an empty set of calls.
func NewInboundAppends() *InboundAppends {
	return &InboundAppends{open: map[*raft.AppendEntriesRequest]struct{}{}}
}

// Add adds a call before Raft receives it.
func (o *InboundAppends) Add(request *raft.AppendEntriesRequest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open[request] = struct{}{}
}

// Remove removes a call that Raft has answered.
func (o *InboundAppends) Remove(request *raft.AppendEntriesRequest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, request)
}

// has reports whether entry is in one of the requests. It compares pointers, not
// contents.
func (o *InboundAppends) has(entry *raft.Log) bool {
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
