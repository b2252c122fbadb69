package turn

import (
	"context"
	"errors"
	"sync"
	"time"

	"dormouse/agent"
)

// Turn is one running turn of a session. Its methods may be called
// concurrently.
type Turn struct {
	runner     Runner
	session    string
	name       string        // the lease's owner, and the client of the turn's request ids
	ttl        time.Duration // of the lease
	lease      agent.Lease
	leaseIndex uint64        // at which it got the lease
	initial    agent.Session // when the turn began
	request    agent.SessionRequest
	reviews    map[string]agent.Review // earlier reviews of the session, by id

	ctx           context.Context //nolint:containedctx // the function's, which the turn ends
	cancel        context.CancelCauseFunc
	stopRenewals  context.CancelFunc // nil before the turn has begun
	renewalsEnded chan struct{}      // closed when renewLoop returns

	leaseUpdates <-chan leaseUpdate // see LeaseWatcher

	commits sync.Mutex // held while the outcome of a commit is open
	seq     uint64     // of the newest commit; guarded by commits

	mu           sync.Mutex
	leaseUntil   time.Time // guaranteed end of the lease; mu guards it and all fields below
	lossErr      error     // ErrLost, once the lease is lost
	journal      *journal
	newReviews   []agent.ReviewDraft // that the turn pauses for
	pausePhase   agent.CursorPhase   // where it pauses
	blockedErr   error               // an effect that an operator must resolve
	ops          []agent.Op
	result       agent.JSON
	conversation *agent.Conversation // nil if the turn does not change it
}

// Context returns the function's context. It ends with the context of the
// turn's caller, or with the cause ErrLost when the lease is lost.
func (t *Turn) Context() context.Context { return t.ctx }

// Session returns the session as it was when the turn began.
func (t *Turn) Session() agent.Session { return t.initial }

// Request returns the request that the turn must answer.
func (t *Turn) Request() agent.SessionRequest { return t.request }

// Fence returns a fence for commits of the caller that may apply only while the
// turn runs. They remain if the turn fails.
func (t *Turn) Fence() *agent.Fence {
	return &agent.Fence{Claim: agent.SessionClaim(t.session), Epoch: t.lease.Epoch}
}

// Read answers reads in the turn's scope; see agent.Service.
func (t *Turn) Read(reads ...agent.Read) ([]agent.Answer, error) {
	answers, err := t.runner.Service.Read(t.ctx, agent.Reads{Scope: t.runner.Scope, Reads: reads})
	if err != nil {
		return nil, err
	}
	if len(answers.Answers) != len(reads) {
		return nil, agent.Errorf(agent.CodeInternal, "%d reads have %d answers", len(reads), len(answers.Answers))
	}
	return answers.Answers, nil
}

// Append adds entries for a thread to the commit that ends the turn. That commit
// is refused with conflict if the thread is not at rev then.
func (t *Turn) Append(thread string, rev uint64, entries ...agent.Draft) {
	t.Commit(&agent.AppendThread{Thread: thread, ExpectedRev: &rev, Entries: entries})
}

// Commit adds ops, such as checkpoints, memories, claims and values, to the commit
// that ends the turn. It sends nothing: if the function fails, the ops are dropped.
// Ops keep their order.
func (t *Turn) Commit(ops ...agent.Op) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ops = append(t.ops, ops...)
}

// SetResult sets the session's result, any JSON value. Invalid JSON is refused
// with invalid.
func (t *Turn) SetResult(result agent.JSON) error {
	compact, err := agent.Compact(result)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result = compact
	return nil
}

// SetConversation sets the conversation for the next turn; both states are
// objects. The turn updates its counters.
func (t *Turn) SetConversation(agentState, contextState agent.JSON) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conversation = &agent.Conversation{AgentState: agentState, ContextState: contextState}
}

// nextConversation returns the conversation after this turn. The caller holds
// mu.
func (t *Turn) nextConversation() *agent.Conversation {
	next := t.initial.Conversation
	if t.conversation != nil {
		next.AgentState, next.ContextState = t.conversation.AgentState, t.conversation.ContextState
	}
	next.ContinuationRevision++
	next.TurnCount++
	next.LastCompletedRequestID = t.request.ID
	return &next
}

// State returns the last value of SetState, from this run or an earlier one of
// the turn; nil if it was never set.
func (t *Turn) State() agent.JSON {
	t.mu.Lock()
	defer t.mu.Unlock()
	return agent.JSON(t.journal.State)
}

// SetState sets a value that the next snapshot stores: before or after an
// effect, at a pause, or at Save.
func (t *Turn) SetState(state agent.JSON) error {
	compact, err := agent.Compact(state)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.journal.State = []byte(compact)
	return nil
}

// Save stores a snapshot with the journal and the state now.
func (t *Turn) Save(phase agent.CursorPhase) error { return t.save(phase) }

// block records an error that fails the turn even if its function ignores it.
func (t *Turn) block(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.blockedErr = errors.Join(t.blockedErr, err)
	return err
}
