package turn

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"dormouse/agent"
)

// Runner runs turns for one owner. It holds no state, and its methods may be
// called concurrently.
type Runner struct {
	Service      agent.Service
	Scope        string        // "" means agent.DefaultScope
	Owner        string        // names the owner of leases, for operators; each turn appends a unique suffix
	TTL          time.Duration // of leases; 0 means agent.ClaimTTLDefault
	Pause        Policy        // where turns pause automatically; "" means PauseNever
	LeaseWatcher *LeaseWatcher // of the same scope: turns notice an interrupt at once; nil: at the next renewal
}

// Func is the function of a turn. It must not keep the Turn.
type Func func(*Turn) error

// Turn runs f as the turn that answers a request, and returns the session at
// the turn's end. A turn that pauses is not an error: see the status.
//
// If the session is busy and its policy queues the request, Turn returns a
// *QueuedError. If other requests wait already, the new request is queued
// behind them and f answers the oldest: see Turn.Request.
//
// The error is that of f, a refusal, ErrLost, or unknown. After unknown and
// ErrLost the session may still be running. It can be recovered once its lease
// has expired.
func (r Runner) Turn(ctx context.Context, session string, request agent.SessionRequest, f Func) (agent.SessionRow, error) {
	return r.run(ctx, session, f, func(owner string) agent.Op {
		return &agent.ClaimSession{Session: session, Owner: owner, Request: &request, TTL: r.ttl()}
	})
}

// TurnAt is Turn for a session whose conversation is at this revision.
// Otherwise it returns stale_conversation_revision.
func (r Runner) TurnAt(ctx context.Context, session string, revision uint64, request agent.SessionRequest, f Func) (agent.SessionRow, error) {
	return r.run(ctx, session, f, func(owner string) agent.Op {
		return &agent.ClaimSession{Session: session, Owner: owner, Request: &request, TTL: r.ttl(), ConversationRevision: &revision}
	})
}

// Next is Turn for the oldest queued request. It returns session_queue_empty if
// there is none.
func (r Runner) Next(ctx context.Context, session string, f Func) (agent.SessionRow, error) {
	return r.run(ctx, session, f, func(owner string) agent.Op {
		return &agent.ClaimSession{Session: session, Owner: owner, TTL: r.ttl()}
	})
}

// Resume continues a turn that paused. f runs from the start; effects with a
// result return it from the journal.
func (r Runner) Resume(ctx context.Context, session string, f Func) (agent.SessionRow, error) {
	return r.run(ctx, session, f, func(owner string) agent.Op {
		return &agent.ResumeSession{Session: session, Owner: owner, TTL: r.ttl()}
	})
}

// Recover continues a turn whose runner lost its lease, as Resume does. An
// effect without a result is called again if its Class permits that, and
// otherwise returns an *IncompleteError.
func (r Runner) Recover(ctx context.Context, session string, f Func) (agent.SessionRow, error) {
	return r.run(ctx, session, f, func(owner string) agent.Op {
		return &agent.RecoverSession{Session: session, Owner: owner, TTL: r.ttl()}
	})
}

func (r Runner) ttl() time.Duration {
	if r.TTL == 0 {
		return agent.ClaimTTLDefault
	}
	return r.TTL
}

// run begins a turn, calls f, and ends the turn for any outcome of f.
func (r Runner) run(ctx context.Context, session string, f Func, begin func(owner string) agent.Op) (row agent.SessionRow, err error) {
	t := r.newTurn(session)
	defer t.stopRenewing()
	updates, unsubscribe := r.LeaseWatcher.subscribe(session)
	t.leaseUpdates = updates
	defer unsubscribe()
	if err := t.begin(ctx, begin(t.name)); err != nil {
		return agent.SessionRow{}, fmt.Errorf("begin a turn of session %s: %w", session, err)
	}
	failure := errNeverReturned // if f ends its goroutine
	defer func() {
		if v := recover(); v != nil {
			failure = panicked(v)
		}
		unsubscribe() // the turn's own end is no interrupt
		row, err = t.end(failure)
	}()
	failure = f(t)
	return row, err
}

func (r Runner) newTurn(session string) *Turn {
	// The turn's name is unique, so the owner of the lease shows whether the
	// claim was granted or queued.
	owner := r.Owner
	if owner == "" {
		owner = "turn"
	}
	return &Turn{
		runner: r, session: session, name: owner + "#" + strings.ToLower(rand.Text()), ttl: r.ttl(),
		renewalsEnded: make(chan struct{}), journal: newJournal(),
	}
}
