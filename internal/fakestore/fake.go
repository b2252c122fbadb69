// Package fakestore is a small agent.Service and agent.Operator in memory, for tests
// of programs that use one. Its clock and counters are plain numbers, so that tests
// know its answers exactly. It implements only the part of the contract that those
// tests need; agenttest does not run against it.
package fakestore

import (
	"context"
	"io"
	"iter"
	"sync"

	"dormouse/agent"
	"dormouse/agent/agenttest"
)

// Store is a store with one node.
type Store struct {
	// Before is called for every attempt at a commit before it is applied, and After
	// when it has been applied. Their error is returned to the caller; nil means none.
	Before, After func(c agent.Commit) error
	// BeforeRead is called for every read.
	BeforeRead func(r agent.Reads) error
	// Cluster is the result of Status, and Changed holds the calls of Change.
	Cluster agent.ClusterStatus
	Changed []string
	// Feed holds the changes that a watch of changes yields.
	Feed []agent.Changed
	// Snapshot is what Backup writes.
	Snapshot []byte
	// Live holds the instances; nil if the tests need none.
	Live agent.Instances
	// Commits holds the commits that were applied.
	Commits []agent.Commit

	mu      sync.Mutex
	index   uint64
	passed  int64 // milliseconds added by Pass
	scopes  map[string]*scope
	decided map[request]agent.Decided
}

type request struct {
	scope, client string
	seq           uint64
}

type scope struct {
	agent.Scope
	values      map[string]*agent.Value
	checkpoints map[string][]*agent.Checkpoint // newest first
	threads     map[string]*journal
	claims      map[string]*agent.Claim
	sessions    agenttest.SessionModel
	memories    []agent.Memory // in write order
	dialogues   agenttest.ConversationModel
	timers      agenttest.TimerModel
}

type journal struct {
	agent.Thread
	entries []agent.Entry // from the floor on
	heads   []agent.Head  // heads[rev] is the head at rev
}

// New returns an empty store.
func New() *Store {
	return &Store{scopes: map[string]*scope{}, decided: map[request]agent.Decided{}}
}

// start is the log time at index 0, in Unix ms.
const start = 1_800_000_000_000

func (s *Store) now() int64 { return start + int64(s.index) + s.passed }

func (s *Store) scope(name string) *scope {
	if name == "" {
		name = agent.DefaultScope
	}
	if s.scopes[name] == nil {
		s.scopes[name] = &scope{
			Scope:  agent.Scope{Name: name, CreatedAt: s.now()},
			values: map[string]*agent.Value{}, checkpoints: map[string][]*agent.Checkpoint{}, threads: map[string]*journal{}, claims: map[string]*agent.Claim{},
			dialogues: agenttest.ConversationModel{},
			sessions:  agenttest.NewSessionModel(), timers: agenttest.TimerModel{},
		}
	}
	return s.scopes[name]
}

// Commit implements agent.Service. A refused commit may leave its first ops applied,
// so tests of atomicity need another store.
func (s *Store) Commit(_ context.Context, c agent.Commit) (agent.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := c.Validate(); err != nil {
		return agent.Result{}, err
	}
	if s.Before != nil {
		if err := s.Before(c); err != nil {
			return agent.Result{}, err
		}
	}
	id := request{c.Scope, c.Request.Client, c.Request.Seq}
	decided, again := s.decided[id]
	if !again {
		decided = s.decide(c)
		if c.Request.Client != "" {
			s.decided[id] = decided
		}
	}
	if s.After != nil {
		if err := s.After(c); err != nil {
			return agent.Result{}, err
		}
	}
	if decided.Err != nil {
		return agent.Result{}, decided.Err
	}
	return decided.Result, nil
}

func (s *Store) decide(c agent.Commit) agent.Decided {
	s.index++
	if f := c.Fence; f != nil {
		if err := s.scope(c.Scope).fenced(f.Claim, f.Epoch); err != nil {
			err.Final = true
			return agent.Decided{Err: err}
		}
	}
	result := agent.Result{Index: s.index, Time: s.now()}
	for i, op := range c.Ops {
		r, err := s.op(c.Scope, op)
		if err != nil {
			refused := *err
			refused.Op, refused.Final = i, true
			return agent.Decided{Err: &refused}
		}
		result.Results = append(result.Results, r)
	}
	s.Commits = append(s.Commits, c)
	return agent.Decided{Result: result}
}

// Read implements agent.Service.
func (s *Store) Read(_ context.Context, r agent.Reads) (agent.Answers, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.Validate(); err != nil {
		return agent.Answers{}, err
	}
	if s.BeforeRead != nil {
		if err := s.BeforeRead(r); err != nil {
			return agent.Answers{}, err
		}
	}
	answers := agent.Answers{Index: s.index, Node: "n1"}
	for _, read := range r.Reads {
		found, err := s.answer(r.Scope, read)
		answers.Answers = append(answers.Answers, agent.Answer{Found: found, Err: err})
	}
	return answers, nil
}

// Watch implements agent.Service. It yields the current entries, and then that the
// thread was deleted; for a claim, its state.
func (s *Store) Watch(_ context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		s.mu.Lock()
		t, c := s.scope(w.Scope).threads[w.Thread], s.scope(w.Scope).claims[w.Claim]
		s.mu.Unlock()
		if w.Changes {
			s.watchChanges(w, yield)
			return
		}
		if w.Claim != "" {
			if c == nil {
				c = &agent.Claim{Name: w.Claim}
			}
			yield(agent.Event{Kind: agent.EventClaim, Claim: *c}, nil)
			return
		}
		if t != nil {
			if w.From < t.Floor {
				yield(agent.Event{Kind: agent.EventCompacted, Floor: t.Floor}, nil)
				return
			}
			for _, e := range t.entries {
				if e.Seq >= w.From && !yield(agent.Event{Entry: e}, nil) {
					return
				}
			}
		}
		yield(agent.Event{Kind: agent.EventDeleted}, nil)
	}
}

// Status implements agent.Operator.
func (s *Store) Status(context.Context) (agent.ClusterStatus, error) { return s.Cluster, nil }

// Change implements agent.Operator.
func (s *Store) Change(_ context.Context, change agent.Change, node string) (string, error) {
	s.Changed = append(s.Changed, string(change)+" "+node)
	if node == "unknown" {
		return "", agent.Errorf(agent.CodeNotFound, "there is no node %q", node)
	}
	return "n2", nil
}

// Backup implements agent.Operator.
func (s *Store) Backup(_ context.Context, w io.Writer) error {
	_, err := w.Write(s.Snapshot)
	return err
}

// ExportScope implements agent.Operator; this store has no rows.
func (*Store) ExportScope(context.Context, string, func(agent.ScopePart) error) error {
	return agent.Errorf(agent.CodeInternal, "the fake store cannot export scopes")
}

// Instances returns Live.
func (s *Store) Instances() agent.Instances { return s.Live }

// Close does nothing.
func (s *Store) Close() error { return nil }

// Placement implements agent.Operator.
func (s *Store) Placement(_ context.Context, q agent.PlacementQuery) (agent.Placement, error) {
	if err := q.Validate(); err != nil {
		return agent.Placement{}, err
	}
	return agent.Placement{}, nil
}
