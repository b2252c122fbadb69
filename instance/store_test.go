package instance_test

import (
	"context"
	"errors"
	"sync"

	"dormouse/agent"
)

// store is a real node's store with the fences of partitions checked against
// world, and with injected failures. It records acknowledgements of timers.
type store struct {
	agent.Service
	world *world

	mu      sync.Mutex
	commits []agent.Commit // fenced commits with a definite outcome
	acks    []agent.AckTimer

	before func(c agent.Commit) error // called before a fenced commit
	after  func(c agent.Commit) error // called after it; its error replaces the outcome
	read   func(r agent.Reads) error
}

// Commit implements agent.Service.
func (s *store) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if c.Fence == nil && s.world != nil {
		return s.Service.Commit(ctx, c)
	}
	s.mu.Lock()
	before, after := s.before, s.after
	s.mu.Unlock()
	if before != nil {
		if err := before(c); err != nil {
			return agent.Result{}, err
		}
	}
	result, err := s.decide(ctx, c)
	if after != nil {
		if err := after(c); err != nil {
			return agent.Result{}, err
		}
	}
	return result, err
}

func (s *store) decide(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if c.Fence != nil {
		if e := s.world.fenced(c.Fence); e != nil {
			return agent.Result{}, e
		}
	}
	inner := agent.Commit{Scope: c.Scope, Request: c.Request}
	var acks []agent.AckTimer
	for n, op := range c.Ops {
		if o, ok := op.(*agent.AckTimer); ok {
			if o.Generation != 1 {
				return agent.Result{}, &agent.Error{Code: agent.CodeConflict, Op: n, Final: true, Detail: "another occurrence"}
			}
			acks = append(acks, *o)
			continue
		}
		inner.Ops = append(inner.Ops, op)
	}
	result, err := s.Service.Commit(ctx, inner)
	var e *agent.Error
	if err == nil || errors.As(err, &e) && e.Final {
		s.mu.Lock()
		s.commits, s.acks = append(s.commits, c), append(s.acks, acks...)
		s.mu.Unlock()
	}
	return result, err
}

// hook sets one of the hooks.
func hook[F any](s *store, place *F, f F) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*place = f
}

// count returns the number of fenced commits with a definite outcome.
func (s *store) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.commits)
}

// Read implements agent.Service.
func (s *store) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	s.mu.Lock()
	read := s.read
	s.mu.Unlock()
	if read != nil {
		if err := read(r); err != nil {
			return agent.Answers{}, err
		}
	}
	return s.Service.Read(ctx, r)
}
