// Package claim drives holders that compete for claims. It checks that each claim has
// one holder at a time and that no write under an old epoch succeeds.
package claim

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// claim lets holders compete for claims and write under their fence to a thread and a
// value without other writers. Some holders stop renewing but continue to write. Some
// write under the epochs of others, like an earlier run of those.
type claim struct {
	keys   *workload.Keys
	writes atomic.Int64 // number of writes so far; numbers them

	mu     sync.Mutex
	epochs map[string][]uint64 // :: key → epochs given to holders, oldest first; guarded by mu
}

const (
	callsMax  = 250 // picks of a key; a pick makes several calls
	claimTail = 3   // entries that a read returns
)

// New returns workload claim.
func New() workload.Workload {
	return &claim{keys: workload.NewKeys("claim", 2, callsMax), epochs: map[string][]uint64{}}
}

func (*claim) Name() string { return "claim" }

func (*claim) About() string {
	return "claims that several holders compete for: one holding at a time, epochs that only grow, and no write under an old one"
}

// Call is a call on a claim.
type Call struct {
	Holder string        `json:"holder"`
	Epoch  uint64        `json:"epoch,omitempty"` // of a renewal or a release
	TTL    time.Duration `json:"ttl,omitempty"`   // of a take; a renewal keeps the ttl
	To     string        `json:"to,omitempty"`    // of a release: the next holder
}

// Seen is the state of a claim that a call left or found; epoch 0 means that it has no
// holder.
type Seen struct {
	Epoch  uint64 `json:"epoch,omitempty"`
	Holder string `json:"holder,omitempty"`
	Index  uint64 `json:"index"`
}

// FencedWrite is a write under a fence, to the thread or to both objects.
type FencedWrite struct {
	Name  string `json:"name"`
	Epoch uint64 `json:"epoch"`
	Value bool   `json:"value,omitempty"`
}

// FencedWrote is the answer of a FencedWrite.
type FencedWrote struct {
	Seq      uint64 `json:"seq"`
	Revision uint64 `json:"revision,omitempty"`
	Index    uint64 `json:"index"`
}

// FencedSeen is the answer of a read of both objects.
type FencedSeen struct {
	Rev      uint64   `json:"rev"`
	Entries  []string `json:"entries,omitempty"` // the last entries, up to Rev
	Revision uint64   `json:"revision,omitempty"`
	Value    string   `json:"value,omitempty"`
	Index    uint64   `json:"index"`
}

func (w *claim) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		switch p.Rand.IntN(8) {
		case 0:
			_, _ = w.get(ctx, p, key)
		case 1:
			_ = w.load(ctx, p, key, claimTail)
		case 2:
			w.write(ctx, p, key, w.anyEpoch(p, key))
		default:
			w.hold(ctx, p, key)
		}
	}
}

// Final reads every claim, its thread and its value.
func (w *claim) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		if _, err := w.get(ctx, p, key); err != nil {
			return err
		}
		return w.load(ctx, p, key, 0)
	})
}

// hold takes a claim if it can, and makes some calls under it.
func (w *claim) hold(ctx context.Context, p *workload.Process, key string) {
	h := Call{Holder: workload.HolderName(p.ID), TTL: agent.ClaimTTLMin + time.Duration(p.Rand.IntN(2000))*time.Millisecond}
	taken, err := w.take(ctx, p, key, h)
	if err != nil {
		for p.Rand.IntN(3) > 0 && workload.Pace(ctx, p) { // while another process holds it
			w.write(ctx, p, key, w.anyEpoch(p, key))
		}
		return
	}
	w.given(key, taken.Epoch)
	h.Epoch = taken.Epoch
	for range 1 + p.Rand.IntN(4) {
		switch draw := p.Rand.IntN(40); {
		case draw == 0: // it does not renew in time
			workload.Hang(ctx, h.TTL+time.Duration(p.Rand.IntN(700))*time.Millisecond)
		case draw < 4:
			w.write(ctx, p, key, w.anyEpoch(p, key))
		case draw < 10:
			_, _ = w.renew(ctx, p, key, Call{Holder: h.Holder, Epoch: h.Epoch})
		case draw < 15: // like a restarted process
			if again, err := w.take(ctx, p, key, Call{Holder: h.Holder, TTL: h.TTL}); err == nil {
				h.Epoch = again.Epoch
				w.given(key, h.Epoch)
			}
		default:
			w.write(ctx, p, key, h.Epoch)
		}
		if !workload.Pace(ctx, p) {
			return
		}
	}
	if p.Rand.IntN(16) == 0 {
		return // let the holding expire
	}
	if p.Rand.IntN(3) == 0 {
		w.retake(ctx, p, key, h)
		return
	}
	h.TTL = 0
	if p.Rand.IntN(6) == 0 {
		h.To = workload.HolderName(p.Rand.IntN(p.ID + 2))
	}
	wait := w.beside(ctx, p, key, h.Epoch)
	if next, err := w.release(ctx, p, key, h); err == nil && next.Epoch > 0 {
		w.given(key, next.Epoch)
	}
	wait()
}

// retake takes the claim again, which ends the holding, beside writes under its epoch, and
// releases it.
func (w *claim) retake(ctx context.Context, p *workload.Process, key string, h Call) {
	wait := w.beside(ctx, p, key, h.Epoch)
	again, err := w.take(ctx, p, key, Call{Holder: h.Holder, TTL: h.TTL})
	wait()
	if err != nil {
		return
	}
	w.given(key, again.Epoch)
	_, _ = w.release(ctx, p, key, Call{Holder: h.Holder, Epoch: again.Epoch})
}

// besideMax bounds the writes beside a call that ends a holding.
const besideMax = 3

// beside begins some writes under an epoch, of the same client, so that they share an entry of
// the log with the call that follows. The returned wait waits for them.
func (w *claim) beside(ctx context.Context, p *workload.Process, key string, epoch uint64) (wait func()) {
	var writes sync.WaitGroup
	for i := range p.Rand.IntN(besideMax + 1) {
		twin := p.Twin(i)
		writes.Go(func() { w.write(ctx, twin, key, epoch) })
	}
	return writes.Wait
}

// given records an epoch that a holder was given.
func (w *claim) given(key string, epoch uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.epochs[key] = append(w.epochs[key], epoch)
}

// anyEpoch returns the newest given epoch half of the time, and otherwise one of the
// last four. If no epoch was given yet it returns 1, which is never given.
func (w *claim) anyEpoch(p *workload.Process, key string) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	epochs := w.epochs[key]
	if len(epochs) == 0 {
		return 1
	}
	if p.Rand.IntN(2) == 0 {
		return epochs[len(epochs)-1]
	}
	return epochs[max(0, len(epochs)-1-p.Rand.IntN(4))]
}
