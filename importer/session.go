package importer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"

	"dormouse/agent"
)

// Bounds of one call and of the patience with it.
const (
	attemptTimeout = 10 * time.Second
	retryFirst     = 50 * time.Millisecond
	retryMax       = 2 * time.Second
	giveUpDefault  = 2 * time.Minute
)

// counters are what all sessions of a run did; all are safe to add to.
type counters struct {
	retries atomic.Int64 // attempts after the first
	unknown atomic.Int64 // commits of which an attempt's outcome was unknown, and was settled
}

// session makes one commit after the other, each under a request id of its
// own, and repeats what did not get through. It belongs to one goroutine.
type session struct {
	service agent.Service
	scope   string
	giveUp  time.Duration // after so long without an answer
	client  string
	seq     uint64 // of the last commit
	counted *counters
}

func newSession(s agent.Service, scope string, giveUp time.Duration, counted *counters) *session {
	if giveUp == 0 {
		giveUp = giveUpDefault
	}
	return &session{service: s, scope: scope, giveUp: giveUp, client: "import-" + uuid.NewString(), counted: counted}
}

// commit applies ops once, however often it has to be sent: an attempt whose
// outcome is unknown is repeated under the same request id until it is known.
func (s *session) commit(ctx context.Context, ops ...agent.Op) error {
	_, err := s.result(ctx, ops...)
	return err
}

// result is commit with the result of the last op.
func (s *session) result(ctx context.Context, ops ...agent.Op) (agent.OpResult, error) {
	s.seq++
	var result agent.Result
	unknown := false
	err := s.retry(ctx, func(ctx context.Context) error {
		var err error
		result, err = s.service.Commit(ctx, agent.Commit{
			Scope: s.scope, Ops: ops, Request: agent.Request{Client: s.client, Seq: s.seq, Low: s.seq},
		})
		var refusal *agent.Error
		if errors.As(err, &refusal) && refusal.Final && agent.Retryable(err) {
			s.seq++ // the log keeps this answer under this request; the next attempt is another
		}
		if agent.OutcomeOf(err) == agent.Undecided {
			unknown = true
		}
		return err
	})
	if unknown && agent.OutcomeOf(err) != agent.Undecided {
		s.counted.unknown.Add(1)
	}
	if err == nil && len(result.Results) != len(ops) {
		err = fmt.Errorf("%d results of %d ops", len(result.Results), len(ops))
	}
	if err != nil {
		return nil, err
	}
	return result.Results[len(ops)-1], nil
}

// read asks several things at one index.
func (s *session) read(ctx context.Context, reads ...agent.Read) (agent.Answers, error) {
	var answers agent.Answers
	err := s.retry(ctx, func(ctx context.Context) error {
		var err error
		answers, err = s.service.Read(ctx, agent.Reads{Scope: s.scope, Reads: reads})
		return err
	})
	if err == nil && len(answers.Answers) != len(reads) {
		err = fmt.Errorf("%d answers to %d reads", len(answers.Answers), len(reads))
	}
	return answers, err
}

// retry makes a call until it is answered for good, or has not been for too
// long.
func (s *session) retry(ctx context.Context, call func(context.Context) error) error {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = retryFirst, retryMax
	first := true
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		if !first {
			s.counted.retries.Add(1)
		}
		first = false
		attempt, cancel := context.WithTimeout(ctx, attemptTimeout)
		defer cancel()
		err := call(attempt)
		switch {
		case err == nil:
			return struct{}{}, nil
		case again(err) && ctx.Err() == nil:
			return struct{}{}, err
		default:
			return struct{}{}, backoff.Permanent(err)
		}
	}, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(s.giveUp))
	return err
}

// again tells whether the same call may yet get an answer.
func again(err error) bool {
	switch agent.CodeOf(err) {
	case agent.CodeUnavailable, agent.CodeOverloaded, agent.CodeUnknown, agent.CodeReadOnly:
		return true
	default:
		return false
	}
}
