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
	retryMin       = 50 * time.Millisecond
	retryMax       = 2 * time.Second
	giveUpDefault  = 2 * time.Minute
)

// counters are what all sessions of a run did; all are safe to add to.
type counters struct {
	retries atomic.Int64 // attempts after the first
	unknown atomic.Int64 // commits of which an attempt's outcome was unknown, and was settled
}

// retryClient makes one commit after the other, each under a request id of its
// own, and repeats what did not get through. It belongs to one goroutine.
type retryClient struct {
	service  agent.Service
	scope    string
	giveUp   time.Duration // after so long without an answer
	clientID string
	seq      uint64 // of the last commit
	counters *counters
}

func newRetryClient(s agent.Service, scope string, giveUp time.Duration, counted *counters) *retryClient {
	if giveUp == 0 {
		giveUp = giveUpDefault
	}
	return &retryClient{service: s, scope: scope, giveUp: giveUp, clientID: "import-" + uuid.NewString(), counters: counted}
}

// commit applies ops once, however often it has to be sent: an attempt whose
// outcome is unknown is repeated under the same request id until it is known.
func (s *retryClient) commit(ctx context.Context, ops ...agent.Op) error {
	_, err := s.result(ctx, ops...)
	return err
}

// result is commit with the result of the last op.
func (s *retryClient) result(ctx context.Context, ops ...agent.Op) (agent.OpResult, error) {
	s.seq++
	var result agent.Result
	unknown := false
	err := s.retry(ctx, func(ctx context.Context) error {
		var err error
		result, err = s.service.Commit(ctx, agent.Commit{
			Scope: s.scope, Ops: ops, Request: agent.Request{Client: s.clientID, Seq: s.seq, Low: s.seq},
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
		s.counters.unknown.Add(1)
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
func (s *retryClient) read(ctx context.Context, reads ...agent.Read) (agent.Answers, error) {
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
func (s *retryClient) retry(ctx context.Context, call func(context.Context) error) error {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = retryMin, retryMax
	first := true
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		if !first {
			s.counters.retries.Add(1)
		}
		first = false
		attempt, cancel := context.WithTimeout(ctx, attemptTimeout)
		defer cancel()
		err := call(attempt)
		switch {
		case err == nil:
			return struct{}{}, nil
		case isRetryable(err) && ctx.Err() == nil:
			return struct{}{}, err
		default:
			return struct{}{}, backoff.Permanent(err)
		}
	}, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(s.giveUp))
	return err
}

// isRetryable tells whether the same call may yet get an answer.
func isRetryable(err error) bool {
	switch agent.CodeOf(err) {
	case agent.CodeUnavailable, agent.CodeOverloaded, agent.CodeUnknown, agent.CodeReadOnly:
		return true
	default:
		return false
	}
}
