// Package review drives reviews that several people answer. It checks that each has
// one answer, in time, recorded once.
package review

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// review requests reviews in the turns of sessions. Several processes answer each
// review at the same time, some of them at its deadline. When a turn goes on without
// waiting, its unanswered reviews are withdrawn.
type review struct {
	keys  *workload.Keys
	names atomic.Int64 // number of turns, reviews and answers so far; numbers them

	mu    sync.Mutex
	asked map[string][]string // :: key → its reviews, oldest first; guarded by mu
}

const (
	callsMax      = 200 // picks of a key: fewer reviews than a session keeps
	reviewsAtOnce = 3
	reviewsOpen   = 5 // only the newest reviews of a session are read and answered
)

// New returns workload review.
func New() workload.Workload {
	return &review{keys: workload.NewKeys("review", 2, callsMax), asked: map[string][]string{}}
}

func (*review) Name() string { return "review" }

func (*review) About() string {
	return "reviews that several people answer at the same time and when they expire: exactly one answer, in time, permanent, and recorded once in the thread"
}

// The calls besides those of session. A workload.CallRead reads all parts of a
// session.
const (
	callAsk      = "ask"
	callDecide   = "decide"
	callWithdraw = "withdraw" // a commit that ends the turn without waiting
)

// turn is the input of a turn's claim, or of a call under its lease.
type turn struct {
	Owner   string      `json:"owner"`
	Request string      `json:"request"`
	Epoch   uint64      `json:"epoch,omitempty"`
	Name    string      `json:"name,omitempty"` // of the snapshot
	Asks    []reviewAsk `json:"asks,omitempty"`
	GoesOn  bool        `json:"goes_on,omitempty"` // the turn asks and does not wait
}

type reviewAsk struct {
	ID  string        `json:"id"`
	TTL time.Duration `json:"ttl,omitempty"` // 0 means that it does not expire
}

// answer is the input of an answer, with the unique name By.
type answer struct {
	Review   string               `json:"review"`
	Decision agent.ReviewDecision `json:"decision"`
	By       string               `json:"by"`
}

// reviewsSeen is the state of some or all of a session's reviews that a call left or
// found.
type reviewsSeen struct {
	Index   uint64              `json:"index"`
	Epoch   uint64              `json:"epoch,omitempty"`  // of a claim
	Status  agent.SessionStatus `json:"status,omitempty"` // of a read, like Entries
	Reviews []reviewSeen        `json:"reviews,omitempty"`
	Entries []reviewSeen        `json:"entries,omitempty"` // the answers in the thread
}

type reviewSeen struct {
	ID     string             `json:"id"`
	Status agent.ReviewStatus `json:"status,omitempty"` // "" if the review does not exist
	By     string             `json:"by,omitempty"`
	At     int64              `json:"at,omitempty"` // log time of the answer, in Unix ms
}

func (w *review) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		switch draw := p.Rand.IntN(20); {
		case draw < 2:
			_, _ = w.read(ctx, p, key)
		case draw < 5:
			w.turn(ctx, p, key)
		default:
			w.look(ctx, p, key)
		}
	}
}

// Final reads every session.
func (w *review) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		_, err := w.read(ctx, p, key)
		return err
	})
}

// turn takes the session from its owner. It requests reviews, or goes on without the
// pending ones.
func (w *review) turn(ctx context.Context, p *workload.Process, key string) {
	t := turn{Owner: workload.HolderName(p.ID), Request: "r" + workload.WriteName(p, w.names.Add(1))}
	seen, err := w.claim(ctx, p, key, t)
	if err != nil {
		return
	}
	t.Epoch, t.Name = seen.Epoch, workload.WriteName(p, w.names.Add(1))
	if p.Rand.IntN(4) == 0 {
		_, _ = w.withdraw(ctx, p, key, t)
		return
	}
	for range 1 + p.Rand.IntN(reviewsAtOnce) {
		ask := reviewAsk{ID: fmt.Sprintf("%s/%s", key, workload.WriteName(p, w.names.Add(1)))}
		if p.Rand.IntN(2) == 0 {
			ask.TTL = time.Duration(20+p.Rand.IntN(400)) * time.Millisecond
		}
		t.Asks = append(t.Asks, ask)
	}
	t.GoesOn = p.Rand.IntN(4) == 0
	w.note(key, t.Asks) // people may answer them before this call returns
	_, _ = w.ask(ctx, p, key, t)
}

func (w *review) note(key string, asks []reviewAsk) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range asks {
		w.asked[key] = append(w.asked[key], a.ID)
	}
}

// look reads or answers one of the newest reviews, as people do.
func (w *review) look(ctx context.Context, p *workload.Process, key string) {
	w.mu.Lock()
	asked := w.asked[key]
	w.mu.Unlock()
	if len(asked) == 0 {
		w.turn(ctx, p, key)
		return
	}
	id := asked[len(asked)-1-p.Rand.IntN(min(len(asked), reviewsOpen))]
	if p.Rand.IntN(4) == 0 {
		_, _ = w.get(ctx, p, key, id)
		return
	}
	kinds := []agent.ReviewDecision{agent.DecideApprove, agent.DecideDeny, agent.DecideEdit}
	_, _ = w.decide(ctx, p, key, answer{Review: id, Decision: kinds[p.Rand.IntN(len(kinds))], By: workload.WriteName(p, w.names.Add(1))})
}
