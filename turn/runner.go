package turn

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"dormouse/agent"
)

// Runner runs turns for one owner. It holds no state: its methods may be called
// concurrently.
type Runner struct {
	Service      agent.Service
	Scope        string        // "" means agent.DefaultScope
	Owner        string        // who runs turns here, for people; each turn adds a word of its own to it
	TTL          time.Duration // of leases; 0 means agent.ClaimTTLDefault
	Pause        Policy        // where turns pause by themselves; "" means PauseNever
	LeaseWatcher *LeaseWatcher // of the same scope: turns hear at once that they were interrupted; nil means with the next renewal
}

// Func is what a turn does. It must not keep the Turn.
type Func func(*Turn) error

// Turn runs f as the turn that answers a request, and returns the session as
// it stood at the turn's end. A turn that pauses is no error: see the status.
//
// A session that is busy answers with a *QueuedError where its policy lets the
// request wait. Where others waited already, f answers the one that has waited
// longest, and the request goes behind them: Turn.Request tells.
//
// The error is f's, a refusal, ErrLost, or unknown. After unknown, and after
// ErrLost, the session may still run, and is recovered once its lease lapses.
func (r Runner) Turn(ctx context.Context, session string, request agent.SessionRequest, f Func) (agent.SessionRow, error) {
	return r.run(ctx, session, f, func(owner string) agent.Op {
		return &agent.ClaimSession{Session: session, Owner: owner, Request: &request, TTL: r.ttl()}
	})
}

// TurnAt is Turn where the session's conversation is at a revision, the one that
// the request was written for: stale_conversation_revision otherwise.
func (r Runner) TurnAt(ctx context.Context, session string, revision uint64, request agent.SessionRequest, f Func) (agent.SessionRow, error) {
	return r.run(ctx, session, f, func(owner string) agent.Op {
		return &agent.ClaimSession{Session: session, Owner: owner, Request: &request, TTL: r.ttl(), ConversationRevision: &revision}
	})
}

// Next is Turn for the request that has waited longest: session_queue_empty
// where none waits.
func (r Runner) Next(ctx context.Context, session string, f Func) (agent.SessionRow, error) {
	return r.run(ctx, session, f, func(owner string) agent.Op {
		return &agent.ClaimSession{Session: session, Owner: owner, TTL: r.ttl()}
	})
}

// Resume takes up a turn that paused. f runs from the top; its effects that
// were called before answer from the journal.
func (r Runner) Resume(ctx context.Context, session string, f Func) (agent.SessionRow, error) {
	return r.run(ctx, session, f, func(owner string) agent.Op {
		return &agent.ResumeSession{Session: session, Owner: owner, TTL: r.ttl()}
	})
}

// Recover takes over a turn whose runner lost its lease, as Resume does. An
// effect that was begun and has no result is called again where its Class says
// that this does no harm, and is an *IncompleteError otherwise.
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

// run begins a turn, calls f, and ends the turn whatever becomes of f.
func (r Runner) run(ctx context.Context, session string, f Func, begin func(owner string) agent.Op) (row agent.SessionRow, err error) {
	t := r.newTurn(session)
	defer t.stopRenewing()
	updates, unsubscribe := r.LeaseWatcher.subscribe(session)
	t.leaseUpdates = updates
	defer unsubscribe()
	if err := t.begin(ctx, begin(t.name)); err != nil {
		return agent.SessionRow{}, fmt.Errorf("begin a turn of session %s: %w", session, err)
	}
	failure := errNeverReturned // where f ends its goroutine
	defer func() {
		if v := recover(); v != nil {
			failure = panicked(v)
		}
		unsubscribe() // that its own end ends the lease is no news
		row, err = t.end(failure)
	}()
	failure = f(t)
	return row, err
}

func (r Runner) newTurn(session string) *Turn {
	// The turn's name is unique, so that a claim which was put in the queue is
	// told from one that was granted: by the owner of the lease.
	owner := r.Owner
	if owner == "" {
		owner = "turn"
	}
	return &Turn{
		runner: r, session: session, name: owner + "#" + strings.ToLower(rand.Text()), ttl: r.ttl(),
		renewalsEnded: make(chan struct{}), journal: newJournal(),
	}
}
