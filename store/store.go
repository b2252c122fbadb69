// Package store serves the whole contract from one node's own parts: commits go through its Raft
// group, reads come from its own state machine.
//
// Only the leader accepts commits. Other nodes refuse them as unavailable, definitely not applied,
// and the router sends them to the leader. A read has a minimum index, or gets one from the group's
// barrier. The package starts no goroutine per commit.
package store

import (
	"context"
	"slices"
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
	Node    string // this node's name, for answers
	Machine *fsm.Machine
	Group   Proposer
	Contact func() time.Time // when this node last knew that it was up to date; for the age of stale reads
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

// known refuses an op that not all nodes of the cluster support. A node that does not know
// import_scope stops on it. A node that cannot end live instances would complete an agent's erasure
// while its instance is live.
func (s *Store) known(c *agent.Commit) error {
	level := s.o.Machine.FeatureLevel()
	if level >= fsm.TokensLevel {
		return nil
	}
	if err := knowsTokens(c); err != nil {
		return err
	}
	if err := knowsDeciders(c); err != nil {
		return err
	}
	if err := knowsExisting(c); err != nil {
		return err
	}
	if err := knowsMetadata(c); err != nil {
		return err
	}
	if err := knowsDeletions(c); err != nil {
		return err
	}
	if err := knowsLimits(c); err != nil || level >= fsm.ImportLevel {
		return err
	}
	for _, op := range c.Ops {
		switch op := op.(type) {
		case *agent.ImportScope:
			return agent.Errorf(agent.CodeUnavailable, "not all nodes of the cluster support import_scope yet: try again once they all run this version")
		case *agent.EraseAgent:
			if _, _, ok := agent.InstanceOf(op.Agent); ok {
				return agent.Errorf(agent.CodeUnavailable, "not all nodes of the cluster can end the live instance of agent %q yet: try again once they all run this version", op.Agent)
			}
		}
	}
	return nil
}

// knowsTokens refuses a commit with tokens below their level: a node that does not know them stops on
// it.
func knowsTokens(c *agent.Commit) error {
	refused := c.Token != ""
	for _, op := range c.Ops {
		switch op.(type) {
		case *agent.PutToken, *agent.RevokeToken:
			refused = true
		}
	}
	if refused {
		return agent.Errorf(agent.CodeUnavailable, "not all nodes of the cluster support tokens yet: try again once they all run this version")
	}
	return nil
}

// knowsExisting refuses ops with members that nodes of earlier versions would ignore, and so decide
// otherwise.
func knowsExisting(c *agent.Commit) error {
	for _, op := range c.Ops {
		refused := false
		switch op := op.(type) {
		case *agent.PutValue:
			refused = op.SkipExisting
		case *agent.PutCheckpoint:
			refused = op.SkipExisting
		case *agent.PatchCheckpoint:
			refused = op.Upsert || op.Shallow
		case *agent.AppendThread:
			refused = op.SkipExisting || op.CreateOnly || slices.ContainsFunc(op.Entries, isNew)
		case *agent.HibernateThread:
			refused = slices.ContainsFunc(op.Entries, isNew)
		}
		if refused {
			return agent.Errorf(agent.CodeUnavailable, "not all nodes of the cluster support on_exists, create_only, upsert, shallow and entries with bytes or of more than 1 MiB yet: try again once they all run this version")
		}
	}
	return nil
}

// knowsMetadata refuses an index of metadata below its level: a node that does not know the op stops
// on it.
func knowsMetadata(c *agent.Commit) error {
	for _, op := range c.Ops {
		if _, ok := op.(*agent.IndexMetadata); ok {
			return agent.Errorf(agent.CodeUnavailable, "not all nodes of the cluster support index_metadata yet: try again once they all run this version")
		}
	}
	return nil
}

// knowsDeletions refuses deletions by prefix below their level: a node that does not know the op stops on
// it.
func knowsDeletions(c *agent.Commit) error {
	for _, op := range c.Ops {
		if _, ok := op.(*agent.DeletePrefix); ok {
			return agent.Errorf(agent.CodeUnavailable, "not all nodes of the cluster support delete_prefix yet: try again once they all run this version")
		}
	}
	return nil
}

// knowsDeciders refuses reviews with deciders, which nodes of earlier versions would ignore.
func knowsDeciders(c *agent.Commit) error {
	for _, op := range c.Ops {
		var drafts []agent.ReviewDraft
		switch op := op.(type) {
		case *agent.CheckpointSession:
			drafts = op.Reviews
		case *agent.CommitSession:
			drafts = op.Reviews
		}
		if slices.ContainsFunc(drafts, func(d agent.ReviewDraft) bool { return len(d.Deciders) > 0 }) {
			return agent.Errorf(agent.CodeUnavailable, "not all nodes of the cluster support deciders of reviews yet: try again once they all run this version")
		}
	}
	return nil
}

// isNew reports whether an entry is one that nodes below level 8 would refuse, or store without its
// bytes.
func isNew(d agent.Draft) bool {
	const entryBytesBefore = 1 << 20
	return d.ContentType != "" || len(d.Bytes) > 0 || d.Size() > entryBytesBefore
}

// knowsLimits refuses a policy with members that nodes of earlier versions would ignore.
func knowsLimits(c *agent.Commit) error {
	for _, op := range c.Ops {
		if op, ok := op.(*agent.PutScope); ok && (op.Default || op.UseDefault || op.Policy != op.Policy.Legacy()) {
			return agent.Errorf(agent.CodeUnavailable, "not all nodes of the cluster support these limits yet: try again once they all run this version")
		}
	}
	return nil
}

// encode validates c, and adds the tick after which it must not apply.
func (s *Store) encode(c *agent.Commit) ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := s.known(c); err != nil {
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
