// Package session drives runners that compete for the turns of sessions. It checks
// leases, the order of turns, and how requests end.
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

// session lets runners compete for the turns of sessions. Each effect of a turn
// appends an entry to the session's thread, and so does the commit that ends it. Some
// runners wait for longer than their lease and then continue. Some die and leave their
// turn to be recovered. Some act under the leases of others, like an earlier run of
// those.
type session struct {
	keys   *workload.Keys
	writes atomic.Int64 // number of requests and entries so far; numbers them

	mu     sync.Mutex
	leases map[string][]sessionCall // :: key → given leases, oldest first; guarded by mu
}

const (
	callsMax    = 400                    // picks of a key: enough for several leases to expire
	sessionTail = 3                      // entries that a read returns
	refusedRest = 200 * time.Millisecond // mean wait of a runner that got no lease
)

// New returns workload session.
func New() workload.Workload {
	return &session{keys: workload.NewKeys("session", 2, callsMax), leases: map[string][]sessionCall{}}
}

func (*session) Name() string { return "session" }

func (*session) About() string {
	return "turns that several runners compete for, with pauses longer than their leases: effects never interleave, no stale commit applies, every turn ends once"
}

// The calls. A workload.CallCommit ends the turn.
const (
	callStart   = "start"
	callRecover = "recover"
	callResume  = "resume"
	callRenew   = "renew"
	callEffect  = "effect"
	callOverdue = "overdue" // a final read: the turn did not end although Final tried
)

// sessionCall is the input of a runner's call, with its lease.
type sessionCall struct {
	Owner   string              `json:"owner,omitempty"`
	Epoch   uint64              `json:"epoch,omitempty"`
	TTL     time.Duration       `json:"ttl,omitempty"`     // of the requested lease
	Request string              `json:"request,omitempty"` // of a claim: the new request; of a commit: the answered one. A claim without a request takes the head of the queue
	Name    string              `json:"name,omitempty"`    // of the appended entry
	Status  agent.SessionStatus `json:"status,omitempty"`  // of a commit
	Turn    uint64              `json:"turn,omitempty"`    // of a commit that updates the conversation: the number of its turn
	Save    bool                `json:"save,omitempty"`    // also saves a snapshot
	Bare    bool                `json:"bare,omitempty"`    // of a commit: without a fence, so that only the lease can refuse it
}

// sessionSeen is the state of a session and its thread that a call left or found. A
// write sets only the first part. Revision 0 means that the session does not exist.
type sessionSeen struct {
	Index    uint64              `json:"index"`
	Revision uint64              `json:"revision,omitempty"`
	Status   agent.SessionStatus `json:"status,omitempty"`
	Epoch    uint64              `json:"epoch,omitempty"` // epoch of its lease
	Owner    string              `json:"owner,omitempty"` // owner of its lease
	Request  string              `json:"request,omitempty"`
	Queued   uint64              `json:"queued,omitempty"` // of a claim: the position of its request in the queue
	Rev      uint64              `json:"rev,omitempty"`    // rev of the thread

	Turns    uint64           `json:"turns,omitempty"`
	By       string           `json:"by,omitempty"`       // the last write to the conversation
	Snapshot string           `json:"snapshot,omitempty"` // the write of the newest snapshot
	Requests []sessionRequest `json:"requests,omitempty"`
	Waiting  []string         `json:"waiting,omitempty"` // requests in the queue
	Entries  []string         `json:"entries,omitempty"` // the last entries, up to Rev
}

type sessionRequest struct {
	ID      string               `json:"id"`
	Outcome agent.RequestOutcome `json:"outcome,omitempty"`
}

// policyOf returns the busy policy of a key; consecutive keys have different ones.
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

// turn begins a turn if it can, and makes some calls as its runner.
func (w *session) turn(ctx context.Context, p *workload.Process, key string) {
	lease, given := w.begin(ctx, p, key)
	if !given {
		for p.Rand.IntN(3) > 0 && workload.Pace(ctx, p) { // while another runner has the lease
			w.actAsAnother(ctx, p, key)
		}
		workload.Hang(ctx, time.Duration(p.Rand.ExpFloat64()*float64(refusedRest)))
		return
	}
	seen, err := w.read(ctx, p, workload.CallRead, key, sessionTail)
	if err != nil {
		return // the runner dies
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
		return // the runner dies
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

// begin requests a lease like a runner: for a new request, to resume a hibernated
// turn, or to recover a turn whose runner seems dead.
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

// under returns a write of a runner under its lease.
func (w *session) under(p *workload.Process, lease, write sessionCall) sessionCall {
	write.Owner, write.Epoch, write.Request = lease.Owner, lease.Epoch, lease.Request
	write.Name = workload.WriteName(p, w.writes.Add(1))
	return write
}

// pastLease returns a little more than the ttl of a lease.
func pastLease(p *workload.Process, lease sessionCall) time.Duration {
	return lease.TTL + time.Duration(p.Rand.IntN(700))*time.Millisecond
}

// actAsAnother writes under one of the last leases that were given. It neither renews
// nor ends the newest lease, which its runner does.
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
	settleTries = 60 // unsuccessful tries, each followed by workload.FinalRest: longer than any lease, even if a new leader restarts it
	settleTTL   = 10 * time.Second
)

// Final ends every turn and reads every session.
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

// endOne takes up the next turn and ends it, if it can.
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
