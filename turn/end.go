package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"dormouse/agent"
)

// errNeverReturned is the failure of a function that ended its goroutine.
var errNeverReturned = errors.New("the turn's function ended its goroutine")

// PanicError is the failure of a function that panicked.
type PanicError struct {
	Value any
	Stack []byte
}

func panicked(value any) error { return &PanicError{Value: value, Stack: debug.Stack()} }

func (e *PanicError) Error() string { return fmt.Sprintf("the turn's function panicked: %v", e.Value) }

// end ends the turn: finished if failure is nil, paused for ErrPaused, failed
// otherwise.
func (t *Turn) end(failure error) (agent.SessionRow, error) {
	if err := t.lost(); err != nil {
		return agent.SessionRow{}, errors.Join(err, withoutLoss(failure))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), endTimeout)
	defer cancel()
	t.mu.Lock()
	stuck := t.blockedErr
	t.mu.Unlock()
	if failure == nil {
		failure = stuck
	}
	var row agent.SessionRow
	var err error
	switch {
	case failure == nil:
		row, err = t.finish(ctx)
	case errors.Is(failure, ErrPaused) && stuck == nil:
		row, err = t.pause(ctx)
	default:
		row, err = t.fail(ctx, failure)
		return row, errors.Join(failure, err)
	}
	if err == nil || leaseEnded(err) || agent.OutcomeOf(err) != agent.Refused {
		return row, asLost(err)
	}
	// The commit was refused, so the turn ends with that failure.
	row, second := t.fail(ctx, err)
	return row, errors.Join(err, second)
}

func withoutLoss(err error) error {
	if errors.Is(err, ErrLost) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func asLost(err error) error {
	if err != nil && leaseEnded(err) {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return err
}

// finish commits the collected changes and the turn's end.
func (t *Turn) finish(ctx context.Context) (agent.SessionRow, error) {
	t.mu.Lock()
	ops, op := t.ops, commitOp(t, agent.SessionFinished)
	op.Result, op.Conversation = t.result, t.nextConversation()
	t.mu.Unlock()
	if t.journal.used() {
		snapshot, err := t.snapshot(agent.PhaseWait)
		if err != nil {
			return agent.SessionRow{}, err
		}
		op.Snapshots = []agent.SessionSnapshot{snapshot}
	}
	return t.commitEnd(ctx, append(ops, op))
}

// pause commits a snapshot to continue from, and the reviews that the turn
// needs.
func (t *Turn) pause(ctx context.Context) (agent.SessionRow, error) {
	t.mu.Lock()
	op, phase := commitOp(t, agent.SessionHibernated), t.pausePhase
	op.Reviews = t.newReviews
	t.mu.Unlock()
	if phase == "" {
		phase = agent.PhaseWait
	}
	if len(op.Reviews) > 0 {
		op.Status, phase = agent.SessionWaiting, agent.PhaseReview
	}
	snapshot, err := t.snapshot(phase)
	if err != nil {
		return agent.SessionRow{}, err
	}
	op.Snapshots = []agent.SessionSnapshot{snapshot}
	return t.commitEnd(ctx, []agent.Op{op})
}

// fail commits the failure without the collected changes.
func (t *Turn) fail(ctx context.Context, failure error) (agent.SessionRow, error) {
	op := commitOp(t, agent.SessionFailed)
	op.Failure = failureJSON(failure)
	row, err := t.commitEnd(ctx, []agent.Op{op})
	return row, asLost(err)
}

func commitOp(t *Turn, status agent.SessionStatus) *agent.CommitSession {
	return &agent.CommitSession{
		Session: t.session, LeaseID: t.lease.LeaseID, Owner: t.name, RequestID: t.request.ID, Status: status,
	}
}

func (t *Turn) commitEnd(ctx context.Context, ops []agent.Op) (agent.SessionRow, error) {
	result, err := t.commitUntilDecided(ctx, t.Fence(), ops...)
	var refusal *agent.Error
	if errors.As(err, &refusal) && refusal.Op >= 0 && refusal.Op < len(ops)-1 {
		err = &opError{err}
	}
	if err != nil {
		return agent.SessionRow{}, fmt.Errorf("end the turn: %w", err)
	}
	s, err := sessionOf(result)
	if err != nil {
		return agent.SessionRow{}, err
	}
	return s.Session, nil
}

// opError is the refusal of an op that the function has added. It says nothing of
// the lease, whatever its code.
type opError struct{ error }

func (e *opError) Unwrap() error { return e.error }

// failureMax is the maximum length of a stored failure.
const failureMax = 4 << 10

// failureJSON returns a failure as the session stores it.
func failureJSON(failure error) agent.JSON {
	text := failure.Error()
	if len(text) > failureMax {
		text = text[:failureMax]
	}
	// Encoding a string cannot fail: invalid UTF-8 is replaced.
	raw, _ := json.Marshal(struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}{codeOf(failure), text})
	return agent.JSON(raw)
}

// codeOf returns the code of a failure.
func codeOf(failure error) string {
	var panicked *PanicError
	var incomplete *IncompleteError
	var denied *DeniedError
	var call *CallError
	var refusal *agent.Error
	switch {
	case errors.As(failure, &panicked), errors.Is(failure, errNeverReturned):
		return "turn_panicked"
	case errors.As(failure, &incomplete):
		return "effect_incomplete"
	case errors.As(failure, &denied):
		return denied.code()
	case errors.As(failure, &call):
		return "effect_failed"
	case errors.As(failure, &refusal):
		return string(refusal.Code)
	case errors.Is(failure, context.Canceled), errors.Is(failure, context.DeadlineExceeded):
		return "turn_cancelled"
	default:
		return "turn_failed"
	}
}
