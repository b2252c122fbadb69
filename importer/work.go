package importer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"dormouse/agent"
	"dormouse/internal/pause"
	"dormouse/turn"
)

// WorkOptions configure a worker that runs the turns of sessions.
type WorkOptions struct {
	Options
	Owner string        // of its leases
	TTL   time.Duration // of its leases; 0 means 5 s
}

// Worked is the result of one worker.
type Worked struct {
	Turns     int `json:"turns"`     // finished by this worker
	Messages  int `json:"messages"`  // of the finished turns
	Calls     int `json:"calls"`     // of tools; a repeated effect counts again
	Recovered int `json:"recovered"` // turns recovered from other workers
	Beaten    int `json:"beaten"`    // turns that another worker claimed first
	Lost      int `json:"lost"`      // turns that another worker had to end
}

// Add adds the result of another worker.
func (w *Worked) Add(other Worked) {
	w.Turns += other.Turns
	w.Messages += other.Messages
	w.Calls += other.Calls
	w.Recovered += other.Recovered
	w.Beaten += other.Beaten
	w.Lost += other.Lost
}

const (
	workTTL       = 5 * time.Second
	workIdleDelay = 100 * time.Millisecond // after a round without work
)

// Work runs turns of the sessions that StartSessions made, in random order,
// until none are left. Any number of workers may run concurrently, in any
// processes.
func Work(ctx context.Context, s agent.Service, list []Conversation, o WorkOptions) (Worked, error) {
	o.Options = o.withDefaults()
	if err := CheckCopies(list, o.Copies); err != nil {
		return Worked{}, err
	}
	if o.TTL == 0 {
		o.TTL = workTTL
	}
	if o.GiveUp == 0 {
		o.GiveUp = giveUpDefault
	}
	var counted counters
	w := &worker{
		client: newRetryClient(s, o.Scope, o.GiveUp, &counted), giveUp: o.GiveUp, progress: o.Progress,
		runner: turn.Runner{Service: s, Scope: o.Scope, Owner: o.Owner, TTL: o.TTL},
	}
	if o.Rate > 0 {
		w.limiter = rate.NewLimiter(rate.Limit(o.Rate), 1)
	}
	var left []job
	for copied := 1; copied <= o.Copies; copied++ {
		for i := range list {
			left = append(left, job{&list[i], list[i].name(copied)})
		}
	}
	rand.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	for moved := time.Now(); len(left) > 0; {
		turns := w.result.Turns
		var failure error
		left = slices.DeleteFunc(left, func(j job) bool {
			if failure != nil {
				return false
			}
			done, err := w.runNext(ctx, j)
			if err != nil {
				failure = fmt.Errorf("session %s (line %d): %w", j.name, j.conversation.Line, err)
			}
			if done {
				moved = time.Now() // by any worker
			}
			return done
		})
		switch {
		case failure != nil:
			return w.result, failure
		case w.result.Turns > turns:
			moved = time.Now()
		case time.Since(moved) > o.GiveUp:
			return w.result, agent.Errorf(agent.CodeUnavailable, "no turn could be run for %v", o.GiveUp)
		case !pause.For(ctx, workIdleDelay):
			return w.result, context.Cause(ctx)
		}
	}
	return w.result, nil
}

// worker runs one turn at a time. It belongs to one goroutine.
type worker struct {
	client   *retryClient
	runner   turn.Runner
	limiter  *rate.Limiter // of messages; nil means no limit
	giveUp   time.Duration
	progress func(int)
	result   Worked
}

// runNext runs the next turn of a session if it is available, and reports
// whether none is left.
func (w *worker) runNext(ctx context.Context, j job) (done bool, err error) {
	answers, err := w.client.read(ctx, &agent.GetSession{Session: j.name})
	if err != nil {
		return false, err
	}
	s, err := foundIn[*agent.Session](answers, 0)
	if err != nil {
		return false, err
	}
	turns := j.conversation.turnSpans()
	n := int(s.Conversation.TurnCount)
	if n >= len(turns) && s.Status != agent.SessionRunning {
		return true, nil
	}
	if s.Status == agent.SessionRunning && !s.Recoverable {
		return false, nil
	}
	size := 0
	if n < len(turns) {
		size = turns[n].to - turns[n].from
	}
	ctx, cancel := context.WithTimeout(ctx, w.turnTimeout(size))
	defer cancel()
	answer := func(t *turn.Turn) error { return w.runTurn(t, j) }
	switch s.Status {
	case agent.SessionRunning:
		if _, err = w.runner.Recover(ctx, j.name, answer); err == nil {
			w.result.Recovered++
		}
	case agent.SessionHibernated:
		_, err = w.runner.Resume(ctx, j.name, answer)
	default:
		request := agent.SessionRequest{ID: requestID(n), Input: j.conversation.Messages[turns[n].asked].Payload}
		_, err = w.runner.TurnAt(ctx, j.name, s.Conversation.ContinuationRevision, request, answer)
	}
	if err == nil {
		w.result.Turns++
		w.result.Messages += size
		w.progress(size)
	}
	return false, w.tolerate(err)
}

// turnTimeout returns the timeout of a turn. The time that the rate limit needs
// is added to giveUp.
func (w *worker) turnTimeout(messages int) time.Duration {
	if w.limiter == nil {
		return w.giveUp
	}
	return w.giveUp + time.Duration(float64(messages)/float64(w.limiter.Limit())*float64(time.Second))
}

// waitForRate waits until the rate allows one more message. If ctx would end
// first it fails at once.
func (w *worker) waitForRate(ctx context.Context) error {
	if w.limiter == nil {
		return nil
	}
	err := w.limiter.Wait(ctx)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return err
}

// tolerate returns nil for errors that do not end a worker: another worker has
// the turn, the outcome is unknown, or the turn timed out.
func (w *worker) tolerate(err error) error {
	switch agent.CodeOf(err) {
	case agent.CodeSessionAlreadyRunning, agent.CodeSessionLeaseActive, agent.CodeSessionNotRecoverable,
		agent.CodeSessionNotResumable, agent.CodeStaleConversationRevision:
		w.result.Beaten++
		return nil
	case agent.CodeUnknown, agent.CodeUnavailable, agent.CodeOverloaded, agent.CodeReadOnly:
		w.result.Lost++
		return nil
	default:
		if errors.Is(err, turn.ErrLost) || errors.Is(err, context.DeadlineExceeded) {
			w.result.Lost++
			return nil
		}
		return err
	}
}

// runTurn is the function of a turn: it calls each tool once and appends the
// turn's messages to the thread.
func (w *worker) runTurn(t *turn.Turn, j job) error {
	turns, n := j.conversation.turnSpans(), int(t.Session().Conversation.TurnCount)
	if n >= len(turns) || t.Request().ID != requestID(n) {
		return agent.Errorf(agent.CodeConflict, "request %q is not in the file: another client writes to the session", t.Request().ID)
	}
	refs, err := refsOf(j.name, t.Request().ID)
	if err != nil {
		return err
	}
	part := turns[n]
	if err := t.Save(agent.PhaseAfterPrompt); err != nil {
		return err
	}
	entries := make([]agent.Draft, 0, part.to-part.from)
	for i := part.from; i < part.to; i++ {
		if err := w.waitForRate(t.Context()); err != nil {
			return err
		}
		for k, call := range j.conversation.calls(i) {
			if err := w.call(t, effectID(i, k), call); err != nil {
				return err
			}
		}
		m := j.conversation.Messages[i]
		entries = append(entries, agent.Draft{Kind: m.Kind, Payload: m.Payload, Refs: refs})
	}
	t.Append(j.name, uint64(part.from), entries...)
	return t.SetResult(j.conversation.Messages[part.to-1].Payload)
}

// call calls a tool. Its answer is the one in the file.
func (w *worker) call(t *turn.Turn, id string, c toolCall) error {
	effect := turn.Effect{ID: id, Name: c.name, Class: classOf(c.name), Input: c.input}
	answer, err := t.Effect(effect, func(context.Context, turn.Call) (agent.JSON, error) {
		w.result.Calls++
		return c.answer, nil
	})
	if err != nil {
		return err
	}
	if c.answer != nil && !equal(answer, c.answer) {
		return agent.Errorf(agent.CodeConflict, "effect %s has another answer than in the file: %s", id, firstDifference(answer, c.answer))
	}
	return nil
}
