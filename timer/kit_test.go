package timer_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/timer"
)

// world is the environment of a waker. It has a log whose leader
// the test chooses, and instances whose handler is part of the test.
type world struct {
	agent.Service

	// handle handles the nth signal, from 0.
	handle func(ctx context.Context, n int, s agent.Signal) error
	// page is called before timers are read from a position: set it with
	// onPage.
	page func(from string)
	// listed is called after timers were read, before the waker has them: set it
	// before the waker reads again.
	listed func()
	// behind: the log's time has not caught up; guarded by mu.
	behind bool
	// unmanaged: the manager does not exist; guarded by mu.
	unmanaged bool

	mu      sync.Mutex
	timers  memstore.TimerModel
	born    uint64
	leads   bool
	turned  chan struct{}
	news    chan struct{}
	signals []sent
	under   int        // signals in progress
	most    int        // maximum of under
	ops     []agent.Op // committed by the waker
}

// signalled is the world's instances, which accept signals only.
type signalled struct {
	agent.Instances
	world *world
}

// Signal implements agent.Instances.
func (s signalled) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	return s.world.Signal(ctx, ref, signal)
}

// sent is a received signal.
type sent struct {
	key string
	at  time.Time
	agent.Signal
}

// newWorld returns a world whose waker runs until the test ends.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		handle: func(context.Context, int, agent.Signal) error { return nil },
		page:   func(string) {},
		listed: func() {},
		timers: memstore.TimerModel{}, leads: true, turned: make(chan struct{}), news: make(chan struct{}, 1),
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := timer.New(timer.Options{Source: w, Leader: w, Service: w, Instances: signalled{world: w}}).Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return w
}

// put sets timers that are due now, in one entry.
func (w *world) put(edit func(*agent.Timer), keys ...string) {
	ops := make([]agent.Op, 0, len(keys))
	for _, key := range keys {
		v := agent.Timer{Manager: "m", Key: key, ID: "t", Missed: agent.MissedFireOnce, Next: time.Now().UnixMilli()}
		if edit != nil {
			edit(&v)
		}
		ops = append(ops, &agent.PutTimer{Timer: v})
	}
	_ = w.apply(ops...)
}

// apply applies an entry. It notifies the waker of timers that are due at once
// or later.
func (w *world) apply(ops ...agent.Op) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now().UnixMilli()
	tell := map[int64]bool{}
	for _, op := range ops {
		result, refusal, ok := w.timers.Apply(op, now, func() uint64 { w.born++; return w.born })
		if !ok {
			return agent.Errorf(agent.CodeInternal, "no op of a timer: %T", op)
		}
		if refusal != nil {
			return refusal
		}
		if r, ok := result.(*agent.TimerResult); ok && r.Timer.ID != "" && !r.Timer.Parked {
			tell[max(dueAt(r.Timer), now)] = true
		}
	}
	for at := range tell {
		time.AfterFunc(time.Duration(at-now)*time.Millisecond, w.nudge)
	}
	return nil
}

func dueAt(t agent.Timer) int64 { return max(t.Next, t.NotBefore) }

func (w *world) nudge() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// onPage makes page called before timers are read from a position. The waker
// reads timers from its start, so page is set under the lock.
func (w *world) onPage(page func(from string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.page = page
}

// lead sets whether the node leads.
func (w *world) lead(leads bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leads = leads
	close(w.turned)
	w.turned = make(chan struct{})
}

func (w *world) IsLeader() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.leads
}

func (w *world) CatchUp(int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.behind
}

func (w *world) LeaderChanged() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.turned
}

// scopeOf returns the scope of a key, which begins with it: the world has one log for all.
func scopeOf(key string) string {
	if scope, _, ok := strings.Cut(key, "/"); ok {
		return scope
	}
	return "s"
}

func (w *world) DueTimersPast(scope string) string {
	if scope == "s" {
		return "\xff" // the keys of no other scope follow
	}
	return scope + "0" // the character after the slash
}

func (w *world) WatchDueTimers() (<-chan struct{}, func()) { return w.news, func() {} }

func (w *world) DueTimers(from string, limit int) (due []agent.DueTimer, next string, wall int64, err error) {
	w.mu.Lock()
	page, listed := w.page, w.listed
	w.mu.Unlock()
	page(from)
	defer listed()
	w.mu.Lock()
	defer w.mu.Unlock()
	wall = time.Now().UnixMilli()
	for _, n := range slices.SortedFunc(maps.Keys(w.timers), func(a, b memstore.TimerName) int { return strings.Compare(a.Key, b.Key) }) {
		t := w.timers[n]
		if t.Parked || dueAt(t) > wall || n.Key < from {
			continue
		}
		if len(due) == limit {
			return due, n.Key, wall, nil
		}
		due = append(due, agent.DueTimer{Scope: scopeOf(n.Key), Timer: t})
	}
	return due, "", wall, nil
}

func (w *world) Signal(ctx context.Context, ref agent.InstanceRef, s agent.Signal) (agent.Reply, error) {
	w.mu.Lock()
	n := len(w.signals)
	w.signals = append(w.signals, sent{ref.Key, time.Now(), s})
	w.under++
	w.most = max(w.most, w.under)
	w.mu.Unlock()
	err := w.handle(ctx, n, s)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.under--
	return agent.Reply{}, err
}

func (w *world) Commit(_ context.Context, c agent.Commit) (agent.Result, error) {
	w.mu.Lock()
	w.ops = append(w.ops, c.Ops...)
	w.mu.Unlock()
	return agent.Result{}, w.apply(c.Ops[0])
}

func (w *world) Read(_ context.Context, r agent.Reads) (agent.Answers, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if q, ok := r.Reads[0].(*agent.GetManager); ok {
		if w.unmanaged {
			return agent.Answers{Answers: []agent.Answer{{Err: agent.Errorf(agent.CodeNotFound, "there is no manager %q", q.Name)}}}, nil
		}
		return agent.Answers{Answers: []agent.Answer{{Found: &agent.Manager{Name: q.Name}}}}, nil
	}
	found, refusal, _ := w.timers.Find(r.Reads[0])
	return agent.Answers{Answers: []agent.Answer{{Found: found, Err: refusal}}}, nil
}

// sees calls look with mu held.
func (w *world) sees(look func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	look()
}

// idle waits until no timer is due, for at most an hour of virtual time.
func (w *world) idle(t *testing.T) {
	t.Helper()
	for range 3600 {
		time.Sleep(time.Second)
		synctest.Wait()
		pends := false
		w.sees(func() {
			for _, v := range w.timers {
				pends = pends || !v.Parked
			}
			pends = pends || w.under > 0
		})
		if !pends {
			return
		}
	}
	t.Fatal("an hour passed, and there are timers left that are not parked")
}

// keys returns n keys, in order.
func keys(prefix string, n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprintf("%s%04d", prefix, i))
	}
	return keys
}
