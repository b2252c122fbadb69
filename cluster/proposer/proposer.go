package proposer

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

// Least times between two empty entries that are proposed because something is
// due. If an entry has not swept all that was due, the next one follows after
// twice the time that it took, so that commits have half of the leader's time.
const (
	dueInterval     = 20 * time.Millisecond // and the longest wait of a backlog
	backlogInterval = time.Millisecond
)

// stepReportGap is the least time between two reports that the system clock
// stepped: a long step takes many entries.
const stepReportGap = time.Second

// readOnlyPause is how long expiries wait while the disk is full.
const readOnlyPause = time.Second

// Machine is the part of the state machine that a Proposer uses. Its Apply
// returns one agent.Decided for each commit of an entry, in order, as
// []agent.Decided.
type Machine interface {
	// Pack makes one log entry of commits, stamped with the leader's time. The machine may decide the
	// commits then: if the entry gets another index or term, they are refused, and not applied. The
	// entry before it must have been applied.
	Pack(index, term, tick uint64, wall int64, commits [][]byte) []byte
	// Applied returns the index of the last entry that views see.
	Applied() uint64
	// WaitApplied waits until views see index.
	WaitApplied(ctx context.Context, index uint64) error
	// Due returns when something falls due next, on either clock; 0 means never.
	Due() (tick uint64, wall int64)
}

// Term is a term in which this node leads and may propose.
type Term struct {
	Number uint64
	Opened uint64 // an entry of the term that is committed, or one after it
	Clock  *Clock
}

// Options configures a Proposer.
type Options struct {
	Machine  Machine
	Raft     *raft.Raft
	Term     *atomic.Pointer[Term] // nil while nothing may be proposed
	Writable func() error          // why commits cannot be stored; nil if they can
	Fatal    func(error)           // called if the state machine did not decide an entry
	Logger   hclog.Logger
	Metrics  *Metrics

	EntryCommits int // most commits of an entry; 0 means BatchCommitsMax
}

// Proposer packs the commits and reads that wait into log entries, one entry in
// flight. A commit that waits was not applied; one in flight may be. Its methods
// may be called concurrently, Run once.
type Proposer struct {
	Options
	wake      chan struct{} // capacity 1: something waits, or the term changed
	abandoned chan struct{} // closed when Raft has stopped and will not answer

	mu       sync.Mutex
	queue    fairQueue      // guarded by mu
	expected int            // commits that linger waits for before an entry is cut; 0: none; guarded by mu
	readers  []chan reading // guarded by mu
	closed   *agent.Error   // why nothing is accepted; guarded by mu
	stalled  bool           // an entry has been in flight for too long; guarded by mu
	holds    int            // callers of Hold; guarded by mu
	quiet    chan struct{}  // closed once nothing is in flight, while holds is not 0; guarded by mu

	announceAt   atomic.Uint64 // the newest entry that a remote node waits to hear of
	announced    uint64        // the commit index that followers learn from the entries sent so far; only Run uses it
	pendingSince time.Time     // since when a remote node waits for more than that; only Run uses it
	linger       lingerStats   // only Run uses it
	lastDue      time.Time     // of the last entry that was proposed because something was due; only Run uses it
	dueTook      time.Duration // of that entry; only Run uses it
	lastStep     time.Time     // of the last report that the system clock stepped; only Run uses it
}

// New returns a proposer that accepts commits while o.Term is not nil.
func New(o Options) *Proposer {
	return &Proposer{Options: o, queue: fairQueue{commitsMax: min(o.EntryCommits, BatchCommitsMax)}, wake: make(chan struct{}, 1), abandoned: make(chan struct{})}
}

// Wake makes Run look at the term again.
func (p *Proposer) Wake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// CatchUp reports whether a wall time of the log, which this node has applied, is the leader's
// time. It is not after a long time without a leader, or after a step of the system clock: then
// each entry takes the log's time further by a limited step. The proposer then proposes empty
// entries until the log has caught up; ask again with its new time. CatchUp returns false if this
// node does not lead. It may be called concurrently.
func (p *Proposer) CatchUp(wall int64) bool {
	term := p.Term.Load()
	if term == nil {
		return false
	}
	if !term.Clock.current(wall) {
		p.Wake()
		return false
	}
	return true
}

// Abandon ends the wait for the entry in flight, with an unknown outcome. Call it
// once, after Raft has stopped.
func (p *Proposer) Abandon() { close(p.abandoned) }

// Run sends entries until ctx ends. It waits for the entry that is in flight then.
func (p *Proposer) Run(ctx context.Context) error {
	defer p.Close(errStopping())
	var settled *batch
	for ctx.Err() == nil {
		if settled != nil && p.expect(settled) {
			p.lingerFor(ctx, settled)
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
		if next.due {
			p.dueTook = next.took
		}
		if next.remote && next.err == nil {
			p.Announce(next.index)
		}
		settled = next
	}
	if settled != nil {
		settled.answer()
	}
	return nil
}

// sleep waits until there may be something to send; d 0 means no timer.
func (p *Proposer) sleep(ctx context.Context, d time.Duration) {
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

// take returns the next entry. If there is none, it returns how long to sleep; 0
// means until woken.
func (p *Proposer) take(now time.Time) (*batch, time.Duration) {
	held, term := p.held(), p.Term.Load()
	if term == nil {
		p.refuse(ErrNotLeader())
		return nil, 0
	}
	if held {
		return nil, 0
	}
	b := p.cut()
	if b == nil && p.announceAt.Load() > p.announced {
		if p.pendingSince.IsZero() {
			p.pendingSince = now
		}
		if wait := announceAfter - now.Sub(p.pendingSince); wait > 0 {
			return nil, wait
		}
		b = &batch{}
	}
	p.pendingSince = time.Time{}
	if b == nil {
		tick, wall := p.Machine.Due()
		wait, ok := term.Clock.until(tick, wall, now)
		if !ok || wait > 0 {
			return nil, wait
		}
		if p.Writable() != nil { // expiries can wait; reads still go through
			return nil, readOnlyPause
		}
		interval := dueInterval
		if term.Clock.overdue(tick, wall) {
			interval = min(max(2*p.dueTook, backlogInterval), dueInterval)
		}
		if gap := interval - now.Sub(p.lastDue); gap > 0 {
			return nil, gap
		}
		p.lastDue = now
		b = &batch{due: true}
	}
	tick, wall, cut := term.Clock.stamp(now)
	if cut != 0 && now.Sub(p.lastStep) >= stepReportGap {
		p.lastStep = now
		p.Logger.Warn("the system clock stepped; the log's time follows slowly", "by", cut)
	}
	b.p, b.started = p, now
	b.entry = p.Machine.Pack(p.Raft.LastIndex()+1, term.Number, tick, wall, b.cmds)
	invariant.Check(len(b.entry) <= EntryBytesMax, "an entry of %d bytes, more than %d", len(b.entry), EntryBytesMax)
	return b, 0
}

// send hands b to Raft.
func (p *Proposer) send(b *batch) {
	p.announced = p.Raft.CommitIndex()
	b.future = p.Raft.Apply(b.entry, EnqueueTimeout)
	p.Metrics.sent(b)
}

// await waits until b is settled. After CommitTimeout it answers b's callers with
// an unknown outcome, and accepts nothing until b settles.
func (p *Proposer) await(b *batch) {
	settled := make(chan error, 1)
	go func() { settled <- b.future.Error() }() // ends with the future; Raft answers all of them unless it is shut down meanwhile
	overdue := time.NewTimer(CommitTimeout)
	defer overdue.Stop()
	for {
		select {
		case err := <-settled:
			p.setStalled(false)
			b.settle(err)
			return
		case <-overdue.C:
			p.Logger.Error("an entry has not been committed in time", "after", CommitTimeout)
			b.err = agent.Errorf(agent.CodeUnknown, "not committed within %v", CommitTimeout)
			p.Metrics.unknown.Add(1)
			b.answer()
			p.setStalled(true)
			p.refuse(agent.Errorf(agent.CodeUnavailable, "the log does not answer"))
		case <-p.abandoned:
			b.err = agent.Errorf(agent.CodeUnknown, "this node stopped before the outcome was known")
			return
		}
	}
}

func (p *Proposer) setStalled(v bool) {
	p.mu.Lock()
	p.stalled = v
	p.mu.Unlock()
}
