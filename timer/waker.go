package timer

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/time/rate"

	"dormouse/agent"
	"dormouse/internal/leading"
	"dormouse/internal/pause"
)

// Source lists due timers. It is implemented by this node's state machine.
type Source interface {
	// DueTimers lists due timers of all scopes from a position that an earlier
	// call returned; "" is the start, and the end. The result wall is the log's
	// time of the list.
	DueTimers(from string, limit int) (due []agent.DueTimer, next string, wall int64, err error)

	// DueTimersPast returns the position of DueTimers past the timers of a scope.
	DueTimersPast(scope string) (from string)

	// WatchDueTimers signals after each entry that made a timer due.
	WatchDueTimers() (changed <-chan struct{}, cancel func())
}

// Leader is this node's part of the Raft group.
type Leader interface {
	leading.Leader

	// CatchUp reports whether a time of the log is the leader's time. After a long time without a
	// leader it is not, for a number of entries, which the leader then proposes.
	CatchUp(wall int64) bool
}

// Options configure a Waker. All but Logger are required.
type Options struct {
	Source    Source
	Leader    Leader
	Service   agent.Service   // acknowledges skipped occurrences and records failures
	Instances agent.Instances // receives the signals
	Logger    hclog.Logger    // nil logs nothing
}

// Limits of a waker.
const (
	pageSize        = 64                     // timers read at once
	backoffMin      = 200 * time.Millisecond // after an attempt that was not handled, or whose outcome is unknown
	backoffMax      = 10 * time.Second       // doubled up to this
	backoffPerTimer = time.Millisecond       // minimum wait for each timer in backoff

	// While many timers fall due one after the other, a pass begins every passGap.
	// Timers that fall due meanwhile are read together, and their turns share log
	// entries. passBurst passes begin at once before that.
	passGap   = 25 * time.Millisecond
	passBurst = 4

	// catchUpMax is how long timers wait for the log's time to catch up. The log catches up with 100
	// days by then. It takes longer if the leader's clock is ahead by years, which is an error.
	catchUpMax = time.Minute
)

// Waker fires timers while its node leads. Its memory only covers one term of
// leadership: the next leader finds due timers in the log.
type Waker struct {
	o Options

	mu         sync.Mutex
	inProgress map[timerID]bool    // :: timer → it was due again meanwhile; guarded by mu
	backoffs   map[timerID]backoff // :: after failures that do not count as attempts; guarded by mu
	finished   map[timerID]bool    // set of timers whose attempt ended since the due timers were last read; guarded by mu
	recheck    chan struct{}       // capacity 1: a finished timer must be read again
}

// timerID identifies a timer.
type timerID struct{ scope, manager, key, id string }

// backoff delays the next attempt at a timer. It is not in the log, because the
// instance was not reached.
type backoff struct {
	generation uint64
	instant    int64
	until      time.Time
	wait       time.Duration
}

// New makes a waker. It does nothing before Run.
func New(o Options) *Waker {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	return &Waker{o: o, recheck: make(chan struct{}, 1)}
}

// Run fires timers while this node leads. It returns when ctx has ended and all
// signals have returned.
func (w *Waker) Run(ctx context.Context) error {
	leading.Run(ctx, w.o.Leader, w.runWhileLeading)
	return nil
}

// runWhileLeading fires timers until ctx ends.
func (w *Waker) runWhileLeading(ctx context.Context) {
	var inFlight sync.WaitGroup
	defer inFlight.Wait()
	w.mu.Lock()
	w.inProgress, w.backoffs, w.finished = map[timerID]bool{}, map[timerID]backoff{}, map[timerID]bool{}
	w.mu.Unlock()
	changed, cancel := w.o.Source.WatchDueTimers()
	defer cancel()
	slots := newSlots()
	var began time.Time // start of the current pass over all due timers
	found := false      // the current pass has found some
	passes := rate.NewLimiter(rate.Every(passGap), passBurst)
	var clock clockWait
	for from := ""; ctx.Err() == nil; {
		if from == "" {
			began, found = time.Now(), false
			slots.beginPass()
		}
		w.beginRead()
		due, next, wall, err := w.o.Source.DueTimers(from, pageSize)
		if err != nil {
			w.o.Logger.Warn("the due timers cannot be read", "error", err)
			next = ""
		}
		if len(due) > 0 && !clock.over(w, wall) {
			pause.For(ctx, passGap)
			from = ""
			continue
		}
		seen := time.Now()
		found = found || len(due) > 0
		for i := range due {
			if !w.acquire(&due[i]) {
				continue
			}
			if !slots.acquire(ctx, due[i].Scope) {
				w.skip(&due[i])
				next = w.o.Source.DueTimersPast(due[i].Scope)
				break
			}
			inFlight.Go(func() {
				w.processTimer(ctx, &due[i], wall, seen)
				if slots.release(due[i].Scope) {
					w.signalRecheck()
				}
			})
		}
		if from = next; from == "" {
			w.wait(ctx, changed, began, err != nil)
			if found {
				_ = passes.Wait(ctx) // the loop ends with ctx
			}
		}
	}
}

// clockWait is the wait for the log's time to catch up. The policy of a timer counts what the timer
// missed up to the log's time, so that each step of that time would fire the timer again.
type clockWait struct {
	since time.Time // zero: the log's time is the leader's
	gone  bool      // the wait took too long
}

// over reports whether timers that are due at a time of the log may be fired.
func (c *clockWait) over(w *Waker, wall int64) bool {
	switch {
	case w.o.Leader.CatchUp(wall):
		*c = clockWait{}
		return true
	case c.since.IsZero():
		c.since = time.Now()
		w.o.Logger.Info("the due timers wait until the log's time has caught up", "behind", time.Since(time.UnixMilli(wall)).Round(time.Second))
	case !c.gone && time.Since(c.since) >= catchUpMax:
		c.gone = true
		w.o.Logger.Warn("the log's time is far behind the clock of this node: timers fire by the log's time; check the clock", "behind", time.Since(time.UnixMilli(wall)).Round(time.Second))
	}
	return c.gone
}

// wait returns when a timer may need an attempt: it fell due, fell due again
// while in progress, or its backoff ended. The last pass over all due timers
// began at began; broken reports that it failed.
func (w *Waker) wait(ctx context.Context, changed <-chan struct{}, began time.Time, broken bool) {
	wait, ok := backoffMax, true
	if !broken {
		wait, ok = w.nextRetry(began)
	}
	var retry <-chan time.Time
	if ok {
		t := time.NewTimer(wait)
		defer t.Stop()
		retry = t.C
	}
	select {
	case <-changed:
	case <-w.recheck:
	case <-retry:
	case <-ctx.Done():
	}
}

// nextRetry returns the time until the first backoff ends, or longer if many
// timers are in backoff, so that they are read together. The last pass over all
// due timers began at began.
func (w *Waker) nextRetry(began time.Time) (wait time.Duration, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n, c := range w.backoffs {
		if _, busy := w.inProgress[n]; busy {
			continue // finish signals recheck
		}
		if !c.until.After(began) {
			delete(w.backoffs, n) // the pass would have found it, so it is no longer due
			continue
		}
		// The pass may have missed a backoff that ended during it.
		if left := max(time.Until(c.until), 0); !ok || left < wait {
			wait, ok = left, true
		}
	}
	return max(wait, time.Duration(len(w.backoffs))*backoffPerTimer), ok
}

// beginRead notes that the due timers are read from now on.
func (w *Waker) beginRead() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.finished)
}

// skip ends the work on a timer for whose scope there is no slot.
func (w *Waker) skip(d *agent.DueTimer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.inProgress, timerIDOf(d))
}

// acquire starts work on a timer. It returns false if the timer is in progress
// or in backoff, or if its attempt ended after the read that found d began: d
// may then be the state before the attempt.
func (w *Waker) acquire(d *agent.DueTimer) bool {
	n := timerIDOf(d)
	w.mu.Lock()
	defer w.mu.Unlock()
	c, waiting := w.backoffs[n]
	same := waiting && c.generation == d.Generation && c.instant == d.Next
	if _, busy := w.inProgress[n]; busy {
		w.inProgress[n] = true
		return false
	}
	if w.finished[n] {
		w.signalRecheck()
		return false
	}
	if same && time.Now().Before(c.until) {
		return false
	}
	w.inProgress[n] = false
	return true
}

func timerIDOf(d *agent.DueTimer) timerID { return timerID{d.Scope, d.Manager, d.Key, d.ID} }

// finish ends the work on a timer. err is a failure that the log does not
// record.
func (w *Waker) finish(d *agent.DueTimer, err error) {
	n := timerIDOf(d)
	w.mu.Lock()
	again := w.inProgress[n]
	delete(w.inProgress, n)
	w.finished[n] = true
	if err == nil {
		delete(w.backoffs, n)
	} else {
		c := w.backoffs[n]
		if c.generation != d.Generation || c.instant != d.Next {
			c = backoff{generation: d.Generation, instant: d.Next}
		}
		c.wait = min(max(2*c.wait, backoffMin), backoffMax)
		c.until = time.Now().Add(c.wait)
		w.backoffs[n] = c
	}
	w.mu.Unlock()
	if again || err != nil {
		w.signalRecheck()
	}
}

// signalRecheck makes the due timers be read again.
func (w *Waker) signalRecheck() {
	select {
	case w.recheck <- struct{}{}:
	default: // already signalled
	}
}
