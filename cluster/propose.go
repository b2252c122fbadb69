package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/internal/invariant"
)

// dueGapMin paces the empty entries that are proposed because something is
// due, so that a state machine with much to clear away leaves room for others.
const dueGapMin = 20 * time.Millisecond

// readOnlyPause is how long what is due waits on a full disk.
const readOnlyPause = time.Second

// proposer packs commits and reads that wait into log entries, one entry in
// flight. What waits was surely not applied; what is in flight may be.
type proposer struct {
	machine   StateMachine
	apply     func(entry []byte, timeout time.Duration) raft.ApplyFuture
	committed func() uint64              // how far the log is committed
	term      *atomic.Pointer[readiness] // nil: nothing may be proposed
	writable  func() error               // why commits cannot be stored; nil: they can
	fatal     func(error)
	logger    hclog.Logger
	metrics   *metrics

	wake      chan struct{} // capacity 1: something waits, or the term changed
	abandoned chan struct{} // closed when raft is gone: no answer will come

	mu      sync.Mutex
	queue   []waiting      // guarded by mu
	bytes   int            // of queue; guarded by mu
	hoped   int            // commits that are waited for before an entry is cut, see gather; 0: none; guarded by mu
	readers []chan reading // guarded by mu
	closed  *agent.Error   // why nothing is taken; guarded by mu
	stalled bool           // an entry has been in flight for too long; guarded by mu
	holds   int            // who wants nothing sent now, see hold; guarded by mu
	quiet   chan struct{}  // closed once nothing is in flight, while holds is not 0; guarded by mu

	asked   atomic.Uint64 // the newest entry that somebody on another node waits for
	told    uint64        // what others hear to be committed by the entries sent so far; run's own
	untold  time.Time     // since when somebody waits to hear of more than that; run's own
	returns returns       // whether callers come back; run's own
	lastDue time.Time     // of the last entry that was proposed because something was due; run's own
}

// readiness is a term in which this node leads and may propose.
type readiness struct {
	term   uint64
	opened uint64 // an entry of it that is committed, or one after that
	clock  *clock
}

func (p *proposer) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run sends entries until ctx ends. What is in flight then is waited for.
func (p *proposer) run(ctx context.Context) error {
	defer p.close(errStopping())
	var settled *batch
	for ctx.Err() == nil {
		if settled != nil && p.hope(settled) {
			p.gather(ctx, settled)
			settled = nil
		}
		next, idle := p.take(time.Now())
		if next != nil {
			p.send(next)
		}
		// The callers of the entry before are answered while the next one is
		// on its way to the disks.
		if settled != nil {
			settled.answer()
			settled = nil
		}
		if next == nil {
			p.sleep(ctx, idle)
			continue
		}
		p.await(next)
		if next.afar && next.err == nil {
			p.tell(next.index)
		}
		settled = next
	}
	if settled != nil {
		settled.answer()
	}
	return nil
}

// sleep waits until there may be something to send; d 0 means no timer.
func (p *proposer) sleep(ctx context.Context, d time.Duration) {
	var due <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		due = t.C
	}
	select {
	case <-p.wake:
	case <-due:
	case <-ctx.Done():
	}
}

// take forms the next entry of what waits. Where nothing does, it says how
// long to sleep; 0 means until woken.
func (p *proposer) take(now time.Time) (*batch, time.Duration) {
	held, term := p.held(), p.term.Load()
	if term == nil {
		p.refuse(errNotLeader())
		return nil, 0
	}
	if held {
		return nil, 0
	}
	b := p.cut()
	if b == nil && p.asked.Load() > p.told {
		if p.untold.IsZero() {
			p.untold = now
		}
		if wait := tellAfter - now.Sub(p.untold); wait > 0 {
			return nil, wait
		}
		b = &batch{} // whatever it is sent for, others hear by it
	}
	p.untold = time.Time{}
	if b == nil {
		tick, wall := p.machine.Due()
		wait, ok := term.clock.until(tick, wall, now)
		if !ok || wait > 0 {
			return nil, wait
		}
		if p.writable() != nil { // it can wait; reads still go through
			return nil, readOnlyPause
		}
		if gap := dueGapMin - now.Sub(p.lastDue); gap > 0 {
			return nil, gap
		}
		p.lastDue = now
		b = &batch{}
	}
	tick, wall, cut := term.clock.stamp(now)
	if cut != 0 {
		p.logger.Warn("the system clock stepped; the log's time follows slowly", "by", cut)
	}
	b.p, b.started = p, now
	b.entry = p.machine.Pack(tick, wall, b.cmds)
	invariant.Check(len(b.entry) <= entryBytesMax, "an entry of %d bytes, more than %d", len(b.entry), entryBytesMax)
	return b, 0
}

// send hands b to raft.
func (p *proposer) send(b *batch) {
	p.told = p.committed()
	b.future = p.apply(b.entry, enqueueMax)
	p.metrics.sent(b)
}

// await waits until b is settled. One that takes too long is answered with
// unknown, and nothing is taken until it settles after all.
func (p *proposer) await(b *batch) {
	settled := make(chan error, 1)
	go func() { settled <- b.future.Error() }() // ends with the future; raft answers all of them unless it is shut down meanwhile
	overdue := time.NewTimer(commitMax)
	defer overdue.Stop()
	for {
		select {
		case err := <-settled:
			p.setStalled(false)
			b.settle(err)
			return
		case <-overdue.C:
			p.logger.Error("an entry has not been committed in time", "after", commitMax)
			b.err = agent.Errorf(agent.CodeUnknown, "not committed within %v", commitMax)
			b.answer()
			p.setStalled(true)
			p.refuse(agent.Errorf(agent.CodeUnavailable, "the log does not answer"))
		case <-p.abandoned:
			b.err = agent.Errorf(agent.CodeUnknown, "this node stopped before the outcome was known")
			return
		}
	}
}

func (p *proposer) setStalled(v bool) {
	p.mu.Lock()
	p.stalled = v
	p.mu.Unlock()
}
