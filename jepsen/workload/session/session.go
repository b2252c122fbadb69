// Package session drives runners that compete for the turns of sessions, and
// checks leases, the order of turns, and how requests end.
package session

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// session has runners compete for the turns of sessions. Each turn leaves its
// effects in the session's thread, one entry each, and ends with another one.
// Some runners hang for longer than their lease and go on all the same; some
// die and leave their turn to be recovered; some act under the leases of
// others, as if they were an older self of theirs.
type session struct {
	keys   *workload.Keys
	writes atomic.Int64 // requests and entries so far; numbers them

	mu     sync.Mutex
	leases map[string][]sessionCall // :: key → leases that somebody was given, oldest first; guarded by mu
}

const (
	callsMax    = 400                    // picks of a key: it lives through several leases that lapse
	sessionTail = 3                      // entries that a read lists
	refusedRest = 200 * time.Millisecond // of a runner that got no lease, in the mean
)

// New returns workload session.
func New() workload.Workload {
	return &session{keys: workload.NewKeys("session", 2, callsMax), leases: map[string][]sessionCall{}}
}

func (*session) Name() string { return "session" }

func (*session) About() string {
	return "turns that several runners compete for, over pauses longer than their leases: effects never interleave, no stale commit applies, every turn ends once"
}

// The calls. A workload.CallCommit ends the turn.
const (
	callStart   = "start"
	callRecover = "recover"
	callResume  = "resume"
	callRenew   = "renew"
	callEffect  = "effect"
	callOverdue = "overdue" // a read: the turn would not end, whatever was tried
)

// sessionCall is what a runner asks for, and under which lease.
type sessionCall struct {
	Owner   string              `json:"owner,omitempty"`
	Epoch   uint64              `json:"epoch,omitempty"`
	TTL     time.Duration       `json:"ttl,omitempty"`     // of a lease that is asked for
	Request string              `json:"request,omitempty"` // of a claim: to be answered; of a commit: answered. A claim of none takes the queue's head
	Name    string              `json:"name,omitempty"`    // of the entry that it leaves in the thread
	Status  agent.SessionStatus `json:"status,omitempty"`  // of a commit
	Turn    uint64              `json:"turn,omitempty"`    // of a commit that carries the conversation on: the number of its turn
	Save    bool                `json:"save,omitempty"`    // with a snapshot
	Bare    bool                `json:"bare,omitempty"`    // of a commit: without a fence, so that the lease alone can refuse it
}

// sessionSeen is how a call left or found a session and its thread. Of a write
// only the first part is there; revision 0 says that there is no session.
type sessionSeen struct {
	Index    uint64              `json:"index"`
	Revision uint64              `json:"revision,omitempty"`
	Status   agent.SessionStatus `json:"status,omitempty"`
	Epoch    uint64              `json:"epoch,omitempty"` // of its lease
	Owner    string              `json:"owner,omitempty"` // of its lease
	Request  string              `json:"request,omitempty"`
	Queued   uint64              `json:"queued,omitempty"` // of a claim: the place of its request in the queue
	Rev      uint64              `json:"rev,omitempty"`    // of the thread

	Turns    uint64           `json:"turns,omitempty"`
	By       string           `json:"by,omitempty"`       // who carried the conversation on last
	Snapshot string           `json:"snapshot,omitempty"` // who made the newest
	Requests []sessionRequest `json:"requests,omitempty"`
	Waiting  []string         `json:"waiting,omitempty"` // requests in the queue
	Entries  []string         `json:"entries,omitempty"` // the last ones, up to Rev
}

type sessionRequest struct {
	ID      string               `json:"id"`
	Outcome agent.RequestOutcome `json:"outcome,omitempty"`
}

// policyOf is the busy policy of a key: they take turns.
func policyOf(key string) agent.BusyPolicy {
	number, err := strconv.Atoi(strings.TrimLeft(key, "abcdefghijklmnopqrstuvwxyz"))
	if err != nil {
		return agent.BusyReject
	}
	return []agent.BusyPolicy{agent.BusyEnqueue, agent.BusyReject, agent.BusyInterrupt}[number%3]
}

func (w *session) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		switch p.Rand.IntN(8) {
		case 0:
			_, _ = w.read(ctx, p, workload.CallRead, key, sessionTail)
		case 1:
			w.actAsAnother(ctx, p, key)
		default:
			w.turn(ctx, p, key)
		}
	}
}

// turn begins a turn, if it can, and is its runner for a while.
func (w *session) turn(ctx context.Context, p *workload.Process, key string) {
	lease, given := w.begin(ctx, p, key)
	if !given {
		for p.Rand.IntN(3) > 0 && workload.Pace(ctx, p) { // while another has it
			w.actAsAnother(ctx, p, key)
		}
		workload.Hang(ctx, time.Duration(p.Rand.ExpFloat64()*float64(refusedRest)))
		return
	}
	seen, err := w.read(ctx, p, workload.CallRead, key, sessionTail)
	if err != nil {
		return // it dies
	}
	for range 1 + p.Rand.IntN(4) {
		switch draw := p.Rand.IntN(40); {
		case draw == 0:
			workload.Hang(ctx, pastLease(p, lease))
		case draw < 8:
			_, _ = w.renew(ctx, p, key, lease)
		default:
			_, _ = w.effect(ctx, p, key, w.under(p, lease, sessionCall{Save: p.Rand.IntN(2) == 0}))
		}
		if !workload.Pace(ctx, p) {
			return
		}
	}
	switch draw := p.Rand.IntN(32); {
	case draw < 2:
		return // it dies
	case draw < 4:
		workload.Hang(ctx, pastLease(p, lease))
	}
	end := sessionCall{Status: agent.SessionFinished, Turn: seen.Turns + 1, Bare: p.Rand.IntN(2) == 0}
	switch draw := p.Rand.IntN(8); {
	case draw == 0:
		end.Status, end.Turn = agent.SessionFailed, 0
	case draw < 3:
		end.Status, end.Turn, end.Save = agent.SessionHibernated, 0, true
	}
	_, _ = w.commit(ctx, p, key, w.under(p, lease, end))
}

// begin asks for a lease as a runner would: for a request of its own, or to
// take up a turn that rests or whose runner seems gone.
func (w *session) begin(ctx context.Context, p *workload.Process, key string) (sessionCall, bool) {
	in := sessionCall{Owner: workload.HolderName(p.ID), TTL: agent.ClaimTTLMin + time.Duration(p.Rand.IntN(1500))*time.Millisecond}
	if p.Rand.IntN(3) == 0 {
		if lease, given := w.lease(ctx, p, callResume, key, in); given {
			return lease, true
		}
	}
	ask := in
	ask.Request = "r" + workload.WriteName(p, w.writes.Add(1))
	lease, given := w.lease(ctx, p, workload.CallClaim, key, ask)
	if !given && p.Rand.IntN(2) == 0 {
		return w.lease(ctx, p, callRecover, key, in)
	}
	return lease, given
}

// under is a write of a runner's under its lease.
func (w *session) under(p *workload.Process, lease, write sessionCall) sessionCall {
	write.Owner, write.Epoch, write.Request = lease.Owner, lease.Epoch, lease.Request
	write.Name = workload.WriteName(p, w.writes.Add(1))
	return write
}

// pastLease is a little longer than a lease.
func pastLease(p *workload.Process, lease sessionCall) time.Duration {
	return lease.TTL + time.Duration(p.Rand.IntN(700))*time.Millisecond
}

// actAsAnother writes under a lease that somebody was given: the newest, or one
// of those before it. It does not keep the newest alive, nor end it: that is
// its runner's.
func (w *session) actAsAnother(ctx context.Context, p *workload.Process, key string) {
	w.mu.Lock()
	leases := w.leases[key]
	w.mu.Unlock()
	if len(leases) == 0 {
		return
	}
	back := p.Rand.IntN(min(len(leases), 4))
	lease := leases[len(leases)-1-back]
	switch draw := p.Rand.IntN(8); {
	case back == 0 || draw < 3:
		_, _ = w.effect(ctx, p, key, w.under(p, lease, sessionCall{Save: back > 0}))
	case draw < 5:
		_, _ = w.renew(ctx, p, key, lease)
	default:
		end := sessionCall{Status: agent.SessionFailed, Bare: p.Rand.IntN(2) == 0}
		_, _ = w.commit(ctx, p, key, w.under(p, lease, end))
	}
}

const (
	settleTries = 60 // that come to nothing, each after workload.FinalRest: longer than any lease, also if another leader starts it again
	settleTTL   = 10 * time.Second
)

// Final ends every turn, and reads every session.
func (w *session) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		for tries := settleTries; ; {
			seen, err := w.read(ctx, p, workload.CallRead, key, 0)
			if err != nil || seen.settled() {
				return err
			}
			if tries == 0 {
				_, err = w.read(ctx, p, callOverdue, key, 0)
				return err
			}
			if !w.endOne(ctx, p, key, seen) {
				tries--
				workload.Hang(ctx, workload.FinalRest)
			}
			if ctx.Err() != nil {
				return fmt.Errorf("end the turns of %s: %w", key, context.Cause(ctx))
			}
		}
	})
}

// settled reports whether no turn is left to run.
func (s sessionSeen) settled() bool {
	return s.Status != agent.SessionRunning && s.Status != agent.SessionHibernated && len(s.Waiting) == 0
}

// endOne takes up the turn that is next and ends it, if it can.
func (w *session) endOne(ctx context.Context, p *workload.Process, key string, seen sessionSeen) bool {
	call := workload.CallClaim
	switch seen.Status {
	case agent.SessionRunning:
		call = callRecover
	case agent.SessionHibernated:
		call = callResume
	default:
	}
	lease, given := w.lease(ctx, p, call, key, sessionCall{Owner: workload.HolderName(p.ID), TTL: settleTTL})
	if !given {
		return false
	}
	_, err := w.commit(ctx, p, key, w.under(p, lease, sessionCall{Status: agent.SessionFinished, Turn: seen.Turns + 1}))
	return err == nil
}
