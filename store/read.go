package store

import (
	"context"
	"time"

	"dormouse/agent"
	"dormouse/internal/planted"
)

// Read implements agent.Service: linearizable where the group leads, stale
// anywhere.
func (s *Store) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if err := r.Validate(); err != nil {
		return agent.Answers{}, err
	}
	if r.Stale {
		return s.ReadAt(ctx, 0, r)
	}
	index, err := s.o.Group.Barrier(ctx)
	if err != nil {
		return agent.Answers{}, err
	}
	return s.ReadAt(ctx, index, r)
}

// ReadAt answers r from this node's own state, as of index or later. r has
// been validated.
func (s *Store) ReadAt(ctx context.Context, index uint64, r agent.Reads) (agent.Answers, error) {
	if err := s.await(ctx, max(index, r.MinIndex)); err != nil {
		return agent.Answers{}, err
	}
	scope := r.Scope
	if scope == "" {
		scope = agent.DefaultScope
	}
	age := s.age(r.Stale)
	view := s.o.Machine.View()
	defer view.Close()
	answers := agent.Answers{Index: view.Index(), Node: s.o.Node, AgeMS: age, Answers: make([]agent.Answer, len(r.Reads))}
	for i, read := range r.Reads {
		answer := view.Answer(scope, read)
		if answer.Err != nil && answer.Err.Op < 0 {
			refusal := *answer.Err
			refusal.Op = i
			answer.Err = &refusal
		}
		answers.Answers[i] = answer
	}
	return answers, nil
}

// await waits until this node has applied index. A read that runs out of time
// has no answer at all: unavailable.
func (s *Store) await(ctx context.Context, index uint64) error {
	if index <= s.o.Machine.Applied() || planted.Is(planted.ReadDoesNotWait) {
		return nil
	}
	if err := s.o.Machine.WaitApplied(ctx, index); err != nil {
		return agent.Errorf(agent.CodeUnavailable, "node %s has applied %d, not yet %d: %v", s.o.Node, s.o.Machine.Applied(), index, err)
	}
	return nil
}

// age is how old a stale read's answer may be, in milliseconds.
func (s *Store) age(stale bool) int64 {
	if !stale {
		return 0
	}
	contact := s.o.Contact()
	if contact.IsZero() {
		return -1
	}
	return max(0, time.Since(contact).Milliseconds())
}
