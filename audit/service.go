package audit

import (
	"context"
	"fmt"
	"sync"

	"dormouse/agent"
)

// service records the commits of a service that need a record.
type service struct {
	agent.Submitter
	r *Recorder
}

// Service returns a service that makes each commit that needs it between two records. Its callers may
// make their calls: put access.Guard around it.
func (r *Recorder) Service(inner agent.Submitter) agent.Submitter { return &service{inner, r} }

// Submit implements agent.Submitter.
func (s *service) Submit(ctx context.Context, c agent.Commit, done func(agent.Result, error)) {
	recs := recordsOf(ctx, &c)
	if recs == nil {
		s.Submitter.Submit(ctx, c, done)
		return
	}
	var once sync.Once
	answer := func(result agent.Result, err error) {
		once.Do(func() { s.r.end(recs, result, err, func() { done(result, err) }) })
	}
	submit := func() { s.Submitter.Submit(ctx, c, answer) }
	writing := false
	for _, rec := range recs {
		writing = writing || rec.Phase == PhaseBegin
	}
	s.r.begin(recs, func(err error) {
		switch {
		case err != nil:
			done(agent.Result{}, err)
		case writing: // this may be the goroutine that writes the log
			go protect(submit, answer)
		default:
			protect(submit, answer)
		}
	})
}

// protect calls submit. A panic ends the one commit, as it does in the goroutine of a request. answer must ignore
// all calls but its first.
func protect(submit func(), answer func(agent.Result, error)) {
	defer func() {
		if p := recover(); p != nil {
			answer(agent.Result{}, agent.Errorf(agent.CodeInternal, "internal error: %s", fmt.Sprint(p)))
		}
	}()
	submit()
}

// Commit implements agent.Service.
func (s *service) Commit(ctx context.Context, c agent.Commit) (result agent.Result, err error) {
	recs := recordsOf(ctx, &c)
	if recs == nil {
		return s.Submitter.Commit(ctx, c)
	}
	if err := s.r.await(ctx, recs); err != nil {
		return agent.Result{}, err
	}
	err = errPanicked // unless the commit returns
	defer func() { s.r.finish(ctx, recs, result, err) }()
	result, err = s.Submitter.Commit(ctx, c)
	return result, err
}
