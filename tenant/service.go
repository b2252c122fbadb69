package tenant

import (
	"context"
	"iter"
	"slices"

	"dormouse/access"
	"dormouse/agent"
)

// Service is a service that serves each scope within its limits.
type Service struct {
	inner   agent.Submitter
	limiter *Limiter
	size    func(any) int
}

// NewService limits a service. size returns about how many bytes the strings in an op or an answer
// have.
func NewService(inner agent.Submitter, limiter *Limiter, size func(any) int) *Service {
	return &Service{inner, limiter, size}
}

// enter validates a commit and begins it. Its bytes count at once. Their answer is small. An invalid
// commit is not charged, and the limiter does not keep its scope. A commit of which no op is about the
// scope is not charged either: see access.OfScope.
func (s *Service) enter(c *agent.Commit) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if !slices.ContainsFunc(c.Ops, func(op agent.Op) bool { return access.OfScope(op) }) {
		return nil
	}
	bytes, err := s.limiter.enter(c.Scope, 1)
	if err == nil && bytes {
		n := 0
		for _, op := range c.Ops {
			n += s.size(op)
		}
		s.limiter.spend(c.Scope, n)
	}
	return err
}

// Submit implements agent.Submitter.
func (s *Service) Submit(ctx context.Context, c agent.Commit, done func(agent.Result, error)) {
	if err := s.enter(&c); err != nil {
		done(agent.Result{}, err)
		return
	}
	s.inner.Submit(ctx, c, done)
}

// Commit implements agent.Service.
func (s *Service) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if err := s.enter(&c); err != nil {
		return agent.Result{}, err
	}
	return s.inner.Commit(ctx, c)
}

// Read implements agent.Service. The reads of a request that are about its scope count one by one.
func (s *Service) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if err := r.Validate(); err != nil {
		return agent.Answers{}, err
	}
	calls := countOfScope(r.Reads)
	if calls == 0 {
		return s.inner.Read(ctx, r)
	}
	bytes, err := s.limiter.enter(r.Scope, calls)
	if err != nil {
		return agent.Answers{}, err
	}
	answers, err := s.inner.Read(ctx, r)
	if bytes {
		n := 0
		for i, a := range answers.Answers {
			if access.OfScope(r.Reads[i]) {
				n += s.size(a.Found)
			}
		}
		s.limiter.spend(r.Scope, n)
	}
	return answers, err
}

func countOfScope(reads []agent.Read) (n int) {
	for _, read := range reads {
		if access.OfScope(read) {
			n++
		}
	}
	return n
}

// Watch implements agent.Service. Events count as bytes.
func (s *Service) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	if err := w.Validate(); err != nil {
		return failed[agent.Event](err)
	}
	return watched(s.limiter, w.Scope, s.inner.Watch(ctx, w), func(e agent.Event) int { return s.size(e) })
}

// failed returns a watch that ends with err at once.
func failed[E any](err error) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		var none E
		yield(none, err)
	}
}

// watched yields the events of a watch of a scope, which counts while it is read.
func watched[E any](l *Limiter, scope string, events iter.Seq2[E, error], size func(E) int) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		leave, err := l.watch(scope)
		if err != nil {
			var none E
			yield(none, err)
			return
		}
		defer leave()
		for event, err := range events {
			if l.Policy(scope).BytesPerSecond > 0 {
				l.spend(scope, size(event))
			}
			if !yield(event, err) {
				return
			}
		}
	}
}
