package turn

import (
	"context"
	"errors"
	"sync"
	"time"

	"dormouse/agent"
)

// Turn is one turn of a session, while it runs. Its methods may be called
// concurrently.
type Turn struct {
	runner     Runner
	session    string
	name       string        // the lease's owner, and the client of the turn's request ids
	ttl        time.Duration // of the lease
	lease      agent.Lease
	leaseIndex uint64        // the index at which it got the lease
	initial    agent.Session // as the turn began
	request    agent.SessionRequest
	reviews    map[string]agent.Review // that the session has asked for before; by id

	ctx           context.Context //nolint:containedctx // the function's, which the turn ends
	cancel        context.CancelCauseFunc
	stopRenewals  context.CancelFunc // ends the renewals; nil before the turn has begun
	renewalsEnded chan struct{}      // closed by keep, when it ends

	leaseUpdates <-chan leaseUpdate // how the lease is held now; see Ear

	commits sync.Mutex // held while a commit is unsettled
	seq     uint64     // of the newest commit; guarded by commits

	mu           sync.Mutex
	leaseUntil   time.Time // the lease stands until then, at least; guarded by mu, as is all below
	lossErr      error     // ErrLost, once the lease is lost
	journal      *journal
	newReviews   []agent.ReviewDraft // what the turn pauses for
	pausePhase   agent.CursorPhase   // where it pauses
	blockedErr   error               // an effect that an operator must see to
	ops          []agent.Op
	result       agent.JSON
	conversation *agent.Conversation // nil where the turn leaves it as it is
}

// Context ends when the lease is lost, with ErrLost as its cause, or with the
// context that the turn was begun with.
func (t *Turn) Context() context.Context { return t.ctx }

// Session is the session as it was when the turn began.
func (t *Turn) Session() agent.Session { return t.initial }

// Request is what the turn is to answer.
func (t *Turn) Request() agent.SessionRequest { return t.request }

// Fence is for commits of the caller's own that are to apply only while the
// turn runs. They are not undone when it fails.
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

// Append adds entries to what is committed when the turn finishes. The thread
// must be at that rev then.
func (t *Turn) Append(thread string, rev uint64, entries ...agent.Draft) {
	t.Commit(&agent.AppendThread{Thread: thread, ExpectedRev: &rev, Entries: entries})
}

// Commit adds any ops to what is committed when the turn finishes, in order:
// checkpoints, memories, claims, values. It commits nothing by itself.
func (t *Turn) Commit(ops ...agent.Op) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ops = append(t.ops, ops...)
}

// SetResult is the session's result once the turn finishes: any JSON value. What
// is not one is invalid, as with SetState.
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

// SetConversation is what the turn hands to the next one, both of them
// objects. Its counters go on by themselves.
func (t *Turn) SetConversation(agentState, contextState agent.JSON) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conversation = &agent.Conversation{AgentState: agentState, ContextState: contextState}
}

// nextConversation is the conversation after this turn. mu is held.
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

// State is what SetState was last told, in this run or, where the turn was
// taken up again, before; nil where it never was.
func (t *Turn) State() agent.JSON {
	t.mu.Lock()
	defer t.mu.Unlock()
	return agent.JSON(t.journal.State)
}

// SetState keeps a value with the next snapshot: the one before or after an
// effect, at a pause, or Save's.
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

// Save keeps the journal and the state now, so that they outlive this process.
func (t *Turn) Save(phase agent.CursorPhase) error { return t.save(phase) }

// block notes an error that the turn cannot finish over, whatever its
// function makes of it.
func (t *Turn) block(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.blockedErr = errors.Join(t.blockedErr, err)
	return err
}
