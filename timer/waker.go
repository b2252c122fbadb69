package timer

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/internal/leading"
)

// Source is where due timers are found: the state machine of this node.
type Source interface {
	// DueTimers lists timers that are due, of all scopes, from a place on that an
	// earlier call gave; "" is the beginning, and the end. Wall is the log's time
	// as of the same moment.
	DueTimers(from string, limit int) (due []agent.DueTimer, next string, wall int64, err error)

	// WatchDueTimers signals after each entry that made a timer due.
	WatchDueTimers() (changed <-chan struct{}, cancel func())
}

// Options make a Waker. All but Logger must be there.
type Options struct {
	Source    Source
	Leader    leading.Leader
	Service   agent.Service   // acknowledges what is passed over, and records what failed
	Instances agent.Instances // where signals are sent
	Logger    hclog.Logger    // nil is silent
}

// Limits of a waker. After downtime many timers are due at once: what bounds
// the wakes is how many signals are under way, not how many timers there are.
const (
	signalsMax      = 64                     // signals under way at once
	pageSize        = 64                     // timers looked at at once
	backoffMin      = 200 * time.Millisecond // after what was surely not handled, or may yet be
	backoffMax      = 10 * time.Second       // …doubling up to this
	backoffPerTimer = time.Millisecond       // for each timer that cools, all are left alone
)

// Waker fires timers while its node leads. What it keeps in memory is of its
// leading alone: the next leader finds in the log what is due.
type Waker struct {
	o Options

	mu         sync.Mutex
	inProgress map[timerID]bool    // :: being worked on → was due again meanwhile; guarded by mu
	backoffs   map[timerID]backoff // :: after what was not counted as an attempt; guarded by mu
	recheck    chan struct{}       // of one: a timer that is worked on no more is to be looked at
}

// timerID names a timer.
type timerID struct{ scope, manager, key, id string }

// backoff keeps a timer from being tried at once again, without a word in the log:
// nobody could be asked.
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

// Run fires timers whenever this node leads, until ctx ends and what is under
// way has ended.
func (w *Waker) Run(ctx context.Context) error {
	leading.Run(ctx, w.o.Leader, w.runWhileLeading)
	return nil
}

// runWhileLeading works until ctx ends.
func (w *Waker) runWhileLeading(ctx context.Context) {
	var under sync.WaitGroup
	defer under.Wait()
	w.mu.Lock()
	w.inProgress, w.backoffs = map[timerID]bool{}, map[timerID]backoff{}
	w.mu.Unlock()
	news, cancel := w.o.Source.WatchDueTimers()
	defer cancel()
	slots := make(chan struct{}, signalsMax)
	var began time.Time // looking at all that is due
	for from := ""; ctx.Err() == nil; {
		if from == "" {
			began = time.Now()
		}
		due, next, wall, err := w.o.Source.DueTimers(from, pageSize)
		if err != nil {
			w.o.Logger.Warn("the timers that are due cannot be read", "error", err)
			next = ""
		}
		seen := time.Now()
		for i := range due {
			if !w.acquire(&due[i]) {
				continue
			}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			under.Go(func() {
				defer func() { <-slots }()
				w.processTimer(ctx, &due[i], wall, seen)
			})
		}
		if from = next; from == "" {
			w.wait(ctx, news, began, err != nil)
		}
	}
}

// wait returns when there may be something to do: a timer fell due, one that
// fell due again is worked on no more, or one has cooled. All that is due has
// been looked at since began, unless that broke.
func (w *Waker) wait(ctx context.Context, news <-chan struct{}, began time.Time, broken bool) {
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
	case <-news:
	case <-w.recheck:
	case <-retry:
	case <-ctx.Done():
	}
}

// nextRetry is how long it is until the first timer has cooled; the more are
// cooling, the more are looked at together. All that is due has been looked at
// since began.
func (w *Waker) nextRetry(began time.Time) (wait time.Duration, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n, c := range w.backoffs {
		if _, busy := w.inProgress[n]; busy {
			continue // its end tells
		}
		if !c.until.After(began) {
			delete(w.backoffs, n) // it was there to be taken, and is not due any more
			continue
		}
		// One that cooled while all were looked at may have been passed by.
		if left := max(time.Until(c.until), 0); !ok || left < wait {
			wait, ok = left, true
		}
	}
	return max(wait, time.Duration(len(w.backoffs))*backoffPerTimer), ok
}

// acquire takes a timer to work on, unless somebody does or it is cooling.
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
	if same && time.Now().Before(c.until) {
		return false
	}
	w.inProgress[n] = false
	return true
}

func timerIDOf(d *agent.DueTimer) timerID { return timerID{d.Scope, d.Manager, d.Key, d.ID} }

// finish gives a timer back; err is why its occurrence may still pend without a
// word of it in the log.
func (w *Waker) finish(d *agent.DueTimer, err error) {
	n := timerIDOf(d)
	w.mu.Lock()
	again := w.inProgress[n]
	delete(w.inProgress, n)
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
		select {
		case w.recheck <- struct{}{}:
		default: // it is told already
		}
	}
}
