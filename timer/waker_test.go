package timer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/timer"
)

// kinds returns the types of ops.
func kinds(ops []agent.Op) (names []string) {
	for _, op := range ops {
		names = append(names, fmt.Sprintf("%T", op))
	}
	return names
}

// times repeats a word.
func times(n int, word string) []string { return slices.Repeat([]string{word}, n) }

// doubled returns n waits; each is twice the one before, up to most.
func doubled(n int, first, most time.Duration) (waits []time.Duration) {
	for ; n > 0; n-- {
		waits = append(waits, first)
		first = min(2*first, most)
	}
	return waits
}

func TestOutcomesOfAnOccurrence(t *testing.T) {
	const ack, fail = "*agent.AckTimer", "*agent.FailTimer"
	broken := errors.New("the handler broke")
	for _, c := range []struct {
		name   string
		put    func(*agent.Timer)
		handle func(w *world, n int, s agent.Signal) error
		waits  []time.Duration // between signals
		ops    []string        // commits of the waker itself
		again  bool            // each signal has the same request id
		parked bool
	}{
		{name: "its turn acknowledges", handle: func(w *world, _ int, s agent.Signal) error { return w.apply(s.Ack) }},
		{name: "under durability idle the waker acknowledges", handle: func(*world, int, agent.Signal) error { return nil }, ops: []string{ack}},
		{name: "the turn applied, and the answer is an error", handle: func(w *world, _ int, s agent.Signal) error {
			return errors.Join(broken, w.apply(s.Ack))
		}},
		{name: "it fails twice", handle: func(w *world, n int, s agent.Signal) error {
			if n < 2 {
				return broken
			}
			return w.apply(s.Ack)
		}, waits: doubled(2, agent.TimerRetryFirst, agent.TimerRetryMost), ops: times(2, fail)},
		{
			name: "it fails for good", handle: func(*world, int, agent.Signal) error { return broken }, parked: true,
			waits: doubled(agent.TimerAttemptsMax-1, agent.TimerRetryFirst, agent.TimerRetryMost), ops: times(agent.TimerAttemptsMax, fail),
		},
		{name: "the instance is unreachable, which is no attempt", handle: func(w *world, n int, s agent.Signal) error {
			codes := []agent.Code{agent.CodeUnavailable, agent.CodeOverloaded, agent.CodeNotOwner, agent.CodeReadOnly, agent.CodeUnknown}
			if n < 2*len(codes) {
				return agent.Errorf(codes[n%len(codes)], "not now")
			}
			return w.apply(s.Ack)
		}, waits: doubled(10, 200*time.Millisecond, 10*time.Second), again: true},
		{name: "it is skipped", put: func(v *agent.Timer) {
			v.Missed, v.Next = agent.MissedSkip, v.Next-agent.TimerGrace.Milliseconds()
		}, ops: []string{ack}},
		{name: "its cron cannot be read", put: func(v *agent.Timer) { v.Cron = "no cron" }, ops: times(agent.TimerAttemptsMax, fail), parked: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.handle = func(_ context.Context, n int, s agent.Signal) error { return c.handle(w, n, s) }
				w.put(c.put, "k")
				w.idle(t)
				w.sees(func() {
					var waits []time.Duration
					requests := map[agent.Request]bool{}
					for i, s := range w.signals {
						if requests[s.Request] = true; i > 0 {
							waits = append(waits, s.at.Sub(w.signals[i-1].at))
						}
					}
					if !slices.Equal(waits, c.waits) || (len(w.signals) == 0) != (c.handle == nil) {
						t.Errorf("%d signals, with %v between them, want %v", len(w.signals), waits, c.waits)
					}
					if len(requests) != len(w.signals) && !c.again || len(requests) != 1 && c.again {
						t.Errorf("%d signals with %d requests", len(w.signals), len(requests))
					}
					if got := kinds(w.ops); !slices.Equal(got, c.ops) {
						t.Errorf("the waker committed %v, want %v", got, c.ops)
					}
					for _, v := range w.timers {
						if v.Attempts != agent.TimerAttemptsMax || v.LastError == "" {
							t.Errorf("%+v", v)
						}
					}
					if (len(w.timers) != 0) != c.parked {
						t.Errorf("%d timers are left", len(w.timers))
					}
				})
			})
		})
	}
}

func TestConcurrentSignalsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		release := make(chan struct{})
		w.handle = func(_ context.Context, _ int, s agent.Signal) error {
			<-release
			return w.apply(s.Ack)
		}
		w.put(nil, keys("k", 3*timer.SignalsMax)...)
		synctest.Wait()
		w.sees(func() {
			if w.under != timer.SignalsMax {
				t.Errorf("%d signals are under way", w.under)
			}
		})
		close(release)
		w.idle(t)
		requests := map[agent.Request]bool{}
		for _, s := range w.signals {
			requests[s.Request] = true
		}
		if w.most != timer.SignalsMax || len(requests) != 3*timer.SignalsMax || len(w.signals) != len(requests) {
			t.Errorf("%d signals with %d requests, at most %d at once", len(w.signals), len(requests), w.most)
		}
	})
}

func TestTimersWaitUntilTheLogsTimeHasCaughtUp(t *testing.T) {
	for _, c := range []struct {
		name        string
		behind      time.Duration
		first, most time.Duration // when the timer fires
	}{
		{"it catches up", time.Second, time.Second, 1100 * time.Millisecond},
		{"it does not", time.Hour, timer.CatchUpMax, timer.CatchUpMax + 100*time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.handle = func(_ context.Context, _ int, s agent.Signal) error { return w.apply(s.Ack) }
				w.sees(func() { w.behind = true })
				began := time.Now()
				time.AfterFunc(c.behind, func() { w.sees(func() { w.behind = false }) })
				w.put(nil, "k")
				w.idle(t)
				if took := w.signals[0].at.Sub(began); len(w.signals) != 1 || took < c.first || took > c.most {
					t.Errorf("%d signals, the first one after %v", len(w.signals), took)
				}
			})
		})
	}
}

// A scope whose instances hang does not delay the timers of another scope.
func TestAScopeWhoseHandlersHangDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		release := make(chan struct{})
		w.handle = func(_ context.Context, n int, s agent.Signal) error {
			w.mu.Lock()
			key := w.signals[n].key
			w.mu.Unlock()
			if !strings.HasPrefix(key, "z/") {
				<-release
			}
			return w.apply(s.Ack)
		}
		const hung = 3
		for i := range hung {
			w.put(nil, keys(fmt.Sprintf("a%d/", i), 3*timer.SignalsMax)...)
		}
		time.Sleep(time.Minute)
		for range 20 {
			began := time.Now()
			w.put(nil, "z/quick")
			time.Sleep(hung*timer.SlotWait + 100*time.Millisecond)
			w.sees(func() {
				last := w.signals[len(w.signals)-1]
				if last.key != "z/quick" || last.at.Before(began) {
					t.Errorf("the last signal is of %s, %v after the timer was due", last.key, last.at.Sub(began))
				}
			})
		}
		close(release)
		w.idle(t)
		if want := hung*3*timer.SignalsMax + 20; len(w.signals) != want {
			t.Errorf("%d signals, want %d", len(w.signals), want)
		}
	})
}

// Many scopes whose handlers hang leave the others some signals.
func TestManyScopesThatHangDoNotStopTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		release := make(chan struct{})
		w.handle = func(_ context.Context, n int, s agent.Signal) error {
			w.mu.Lock()
			key := w.signals[n].key
			w.mu.Unlock()
			if !strings.HasPrefix(key, "z/") {
				<-release
			}
			return w.apply(s.Ack)
		}
		const hung, each = 50, 70
		for i := range hung {
			w.put(nil, keys(fmt.Sprintf("a%02d/", i), each)...)
		}
		time.Sleep(time.Minute)
		w.put(nil, keys("z/", each)...)
		time.Sleep(time.Minute)
		w.sees(func() {
			if quick := len(w.signals) - w.under; quick != each {
				t.Errorf("%d timers of the scope that works fired, want %d", quick, each)
			}
			if w.under > timer.AllSignalsMax {
				t.Errorf("%d signals at once, want at most %d", w.under, timer.AllSignalsMax)
			}
		})
		close(release)
		w.idle(t)
	})
}

// An occurrence that a turn's commit makes due is found while the turn's signal
// is still in progress, and fires once.
func TestATimerThatIsDueAgainWhileInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.handle = func(_ context.Context, n int, s agent.Signal) error {
			if err := w.apply(s.Ack); err != nil {
				return err
			}
			time.Sleep(time.Second)
			if n == 3 {
				return w.apply(&agent.DeleteTimer{Manager: "m", Key: "k", ID: "t"})
			}
			return nil
		}
		w.put(func(v *agent.Timer) {
			v.Cron, v.Missed, v.CatchUp, v.Next = "@hourly", agent.MissedCatchUp, 100, v.Next-24*time.Hour.Milliseconds()
		}, "k")
		w.idle(t)
		var waits []time.Duration
		for i, s := range w.signals[1:] {
			waits = append(waits, s.at.Sub(w.signals[i].at))
		}
		if want := slices.Repeat([]time.Duration{time.Second}, 3); !slices.Equal(waits, want) || w.most != 1 {
			t.Errorf("signals came with %v between them, at most %d at once", waits, w.most)
		}
	})
}

// A list of due timers that was read before an attempt failed, and used after it,
// starts no other attempt.
func TestAnOldListStartsNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.handle = func(_ context.Context, n int, s agent.Signal) error {
			if n > 0 {
				return w.apply(s.Ack)
			}
			w.sees(func() { w.listed = func() { time.Sleep(20 * time.Millisecond) } })
			w.nudge()
			time.Sleep(10 * time.Millisecond)
			return errors.New("the handler broke")
		}
		w.put(nil, "k")
		w.idle(t)
		if got := kinds(w.ops); len(w.signals) != 2 || !slices.Equal(got, []string{"*agent.FailTimer"}) {
			t.Fatalf("%d signals, and the waker committed %v", len(w.signals), got)
		}
		if waited := w.signals[1].at.Sub(w.signals[0].at); waited < agent.TimerRetryFirst {
			t.Errorf("the second attempt came after %v", waited)
		}
	})
}

// The wait for the next attempt begins when an attempt fails, however long it took.
func TestTheWaitAfterASlowAttemptIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var failed time.Time
		w.handle = func(_ context.Context, n int, s agent.Signal) error {
			if n > 0 {
				return w.apply(s.Ack)
			}
			time.Sleep(time.Minute)
			failed = time.Now()
			return errors.New("the handler broke")
		}
		w.put(nil, "k")
		w.idle(t)
		if len(w.signals) != 2 {
			t.Fatalf("%d signals", len(w.signals))
		}
		if waited := w.signals[1].at.Sub(failed); waited < agent.TimerRetryFirst || waited > agent.TimerRetryFirst+time.Second {
			t.Errorf("the second attempt came %v after the first one failed", waited)
		}
	})
}

func TestANodeThatDoesNotLeadFiresNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cut := make(chan struct{})
		w.handle = func(ctx context.Context, n int, s agent.Signal) error {
			if n == 0 {
				<-ctx.Done()
				close(cut)
				return ctx.Err()
			}
			return w.apply(s.Ack)
		}
		w.put(nil, "a")
		synctest.Wait()
		w.lead(false)
		synctest.Wait()
		select {
		case <-cut:
		default:
			t.Error("a signal goes on without the leader that sent it")
		}
		w.put(nil, "b")
		time.Sleep(time.Hour)
		synctest.Wait()
		w.sees(func() {
			if len(w.signals) != 1 || len(w.ops) != 0 || len(w.timers) != 2 {
				t.Errorf("%d signals, %v, %v", len(w.signals), kinds(w.ops), w.timers)
			}
		})
		w.lead(true)
		w.idle(t)
		if len(w.signals) != 3 || len(w.ops) != 0 {
			t.Errorf("%d signals, %v", len(w.signals), kinds(w.ops))
		}
	})
}

// A timer whose manager does not exist yet waits for it, and says so. It is not
// parked.
func TestATimerOfAnUnknownManagerWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.unmanaged = true
		w.handle = func(_ context.Context, _ int, s agent.Signal) error {
			missing := false
			w.sees(func() { missing = w.unmanaged })
			if missing {
				return agent.Errorf(agent.CodeNotFound, "there is no manager")
			}
			return w.apply(s.Ack)
		}
		w.put(nil, "k")
		time.Sleep(3 * time.Hour)
		w.sees(func() {
			for _, v := range w.timers {
				if v.Parked || v.Attempts != 0 || v.LastError == "" {
					t.Errorf("it is %+v", v)
				}
			}
			if n := len(w.signals); n < 36 || n > 37 {
				t.Errorf("it was tried %d times in 3 h", n)
			}
			w.unmanaged = false
		})
		time.Sleep(agent.TimerRetryMost + time.Second)
		w.sees(func() {
			if len(w.timers) != 0 {
				t.Errorf("it did not fire: %+v", w.timers)
			}
		})
	})
}

// Timers that fall due one after the other are read together: after four passes at once, a pass begins every 25 ms.
func TestPassesArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		passes := 0
		w.onPage(func(from string) {
			if from == "" {
				passes++
			}
		})
		w.handle = func(_ context.Context, _ int, s agent.Signal) error { return w.apply(s.Ack) }
		for i := range 1000 {
			w.put(nil, fmt.Sprintf("k%04d", i))
			time.Sleep(time.Millisecond)
		}
		w.idle(t)
		var late time.Duration
		for i, s := range w.signals {
			if i > 0 {
				late = max(late, s.at.Sub(w.signals[i-1].at))
			}
		}
		if len(w.signals) != 1000 || passes < 20 || passes > 50 || late > 26*time.Millisecond {
			t.Errorf("%d signals in %d passes, up to %v apart", len(w.signals), passes, late)
		}
	})
}

// A waker that found nothing at first fires a timer at once.
func TestTheFirstTimerFiresAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.handle = func(_ context.Context, _ int, s agent.Signal) error { return w.apply(s.Ack) }
		synctest.Wait() // it has looked, and waits
		w.put(nil, "a")
		synctest.Wait()
		w.sees(func() {
			if len(w.signals) != 1 {
				t.Errorf("%d signals", len(w.signals))
			}
		})
	})
}
