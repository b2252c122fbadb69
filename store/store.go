// Package store serves the whole contract from one node's own parts: commits go through its Raft
// group, reads come from its own state machine.
//
// Only the leader accepts commits. Other nodes refuse them as unavailable, definitely not applied,
// and the router sends them to the leader. A read has a minimum index, or gets one from the group's
// barrier. The package starts no goroutine per commit.
package store

import (
	"context"
	"time"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/command"
	"dormouse/internal/budget"
	"dormouse/internal/seededbug"
)

// Proposer is the Raft group of a store.
type Proposer interface {
	// Submit proposes one encoded commit of a scope; done is called exactly once and must
	// not block. If ctx ends before the commit is sent, the error has code unavailable. The log
	// is shared fairly between scopes. The parts of the commit's time are recorded in those of ctx.
	Submit(ctx context.Context, scope string, command []byte, done func(agent.Decided, error))

	// Barrier returns an index such that a read that began before the call is linearizable once
	// this node has applied it.
	Barrier(ctx context.Context) (uint64, error)

	// Replayed returns nil once this node has applied the log that it had when it started, and an
	// error with code unavailable before.
	Replayed() error

	// Tick returns the log's current monotonic time, in milliseconds.
	Tick() uint64
}

// Options configure a Store.
type Options struct {
	Node     string // this node's name, for answers
	Machine  *fsm.Machine
	Group    Proposer
	UpToDate func() time.Time // the newest time for which this node has all that was committed, or zero; for the age of stale reads
}

// Store implements agent.Submitter on one node. It may be used concurrently.
type Store struct {
	o    Options
	gate *budget.Gate
}

// New returns a store; it need not be closed.
func New(o Options) *Store { return &Store{o, newGate()} }

// Submit implements agent.Submitter. A commit whose ctx ends before it is sent to the log is not
// applied; done always gets the true outcome.
func (s *Store) Submit(ctx context.Context, c agent.Commit, done func(agent.Result, error)) {
	command, err := s.encode(&c)
	if err != nil {
		done(agent.Result{}, err)
		return
	}
	s.o.Group.Submit(ctx, c.Scope, command, func(d agent.Decided, err error) {
		if err == nil && d.Err != nil {
			err = d.Err
		}
		done(d.Result, err)
	})
}

// Commit implements agent.Service.
func (s *Store) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	return agent.Await(ctx, s, c)
}

// encode validates c, and adds the tick after which it must not apply.
func (s *Store) encode(c *agent.Commit) ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := s.Supports(c); err != nil {
		return nil, err
	}
	if seededbug.Enabled {
		if err := s.decideEarly(c); err != nil {
			return nil, err
		}
	}
	var notAfter uint64
	if c.Request.Client != "" {
		ttl := c.Request.TTL
		if ttl == 0 {
			ttl = agent.RequestTTLDefault
		}
		notAfter = s.o.Group.Tick() + uint64(ttl.Milliseconds())
	}
	command, err := command.EncodeCommit(c, notAfter)
	if err != nil {
		return nil, err
	}
	if len(command) > agent.CommitBytesMax {
		return nil, agent.TooLarge("commit", "commit_bytes_max", len(command), agent.CommitBytesMax)
	}
	return command, nil
}
