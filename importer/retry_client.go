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

// Limits of one call and of its retries.
const (
	attemptTimeout = 10 * time.Second
	retryMin       = 50 * time.Millisecond
	retryMax       = 2 * time.Second
	giveUpDefault  = 2 * time.Minute
)

// counters are the totals of all clients of a run. They may be added to
// concurrently.
type counters struct {
	retries atomic.Int64 // attempts after the first
	unknown atomic.Int64 // commits with an attempt of unknown outcome whose outcome was then learned
}

// retryClient sends one commit at a time, each under its own request id, and
// retries calls that fail. It belongs to one goroutine.
type retryClient struct {
	service  agent.Service
	scope    string
	giveUp   time.Duration // maximum time without an answer
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

// commit applies ops once. It repeats an attempt with an unknown outcome under
// the same request id until the outcome is known.
func (s *retryClient) commit(ctx context.Context, ops ...agent.Op) error {
	_, err := s.result(ctx, ops...)
	return err
}

// result is commit that returns the result of the last op.
func (s *retryClient) result(ctx context.Context, ops ...agent.Op) (agent.OpResult, error) {
	s.seq++
	var result agent.Result
	ambiguous := false // an attempt may have been applied
	err := s.retry(ctx, func(ctx context.Context) error {
		var err error
		result, err = s.service.Commit(ctx, agent.Commit{
			Scope: s.scope, Ops: ops, Request: agent.Request{Client: s.clientID, Seq: s.seq, Low: s.seq},
		})
		var refusal *agent.Error
		final := errors.As(err, &refusal) && refusal.Final
		switch {
		case agent.OutcomeOf(err) == agent.Undecided:
			ambiguous = true
		case ambiguous && (err == nil || final):
			ambiguous = false
			s.counters.unknown.Add(1)
		}
		if final && agent.Retryable(err) {
			s.seq++ // the log keeps this refusal under this request id, so the next attempt needs another
		}
		return err
	})
	if ambiguous && agent.OutcomeOf(err) == agent.Refused { // which is about the last attempt alone
		err = agent.Errorf(agent.CodeUnknown, "an earlier attempt may have been applied, and the last one was refused: %v", err)
	}
	if err == nil && len(result.Results) != len(ops) {
		err = fmt.Errorf("%d results of %d ops", len(result.Results), len(ops))
	}
	if err != nil {
		return nil, err
	}
	return result.Results[len(ops)-1], nil
}

// read answers several reads at one index.
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

// retry repeats a call until it succeeds, fails permanently, or has had no
// answer for giveUp.
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

// isRetryable reports whether the same call may succeed later.
func isRetryable(err error) bool {
	switch agent.CodeOf(err) {
	case agent.CodeUnavailable, agent.CodeOverloaded, agent.CodeUnknown, agent.CodeReadOnly:
		return true
	default:
		return false
	}
}
