package turn_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/turn"
)

// countedWatches counts the open watches and all watches.
type countedWatches struct {
	agent.Service
	open, ever atomic.Int32
	begin      chan struct{} // delays watches until it is closed; may be nil
}

func (w *countedWatches) Watch(ctx context.Context, watch agent.Watch) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		w.open.Add(1)
		w.ever.Add(1)
		defer w.open.Add(-1)
		if w.begin != nil {
			<-w.begin
		}
		w.Service.Watch(ctx, watch)(yield)
	}
}

// watchLeases gives the kit's runner a LeaseWatcher, and counts its watches.
func (k *kit) watchLeases() *countedWatches {
	k.Helper()
	w := &countedWatches{Service: k.service}
	k.runner.LeaseWatcher = turn.NewLeaseWatcher(w, "")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.runner.LeaseWatcher.Run(ctx)
	}()
	k.Cleanup(func() { // before the node stops
		cancel()
		<-done
	})
	return w
}

// interrupts are the ways in which a turn of session i loses its lease.
var interrupts = map[string]func(k *kit){
	"interrupted": func(k *kit) {
		if _, err := k.runner.Turn(k.Context(), "i", request("r2"), func(*turn.Turn) error { return nil }); err != nil {
			k.Error(err)
		}
	},
	"cancelled": func(k *kit) { k.commit(&agent.CancelSession{Session: "i"}) },
	"deleted":   func(k *kit) { k.commit(&agent.DeleteSession{Session: "i"}) },
}

// interrupted runs a turn that interrupt ends, and checks that the turn notices
// at once. The watch begins before the interrupt or just after it.
func (k *kit) interrupted(w *countedWatches, interrupt func(k *kit)) {
	k.Helper()
	k.commit(&agent.PutSession{Session: "i", Agent: "a", SessionSettings: agent.SessionSettings{Busy: agent.BusyInterrupt}})
	_, err := k.runner.Turn(k.Context(), "i", request("r1"), func(t *turn.Turn) error {
		time.Sleep(ttl / 10) // virtual: the watch has begun, or is delayed
		interrupt(k)
		since := time.Now()
		if w.begin != nil {
			close(w.begin)
		}
		<-t.Context().Done()
		if took := time.Since(since); took > time.Second {
			k.Errorf("it noticed after %v", took)
		}
		return context.Cause(t.Context())
	})
	if !errors.Is(err, turn.ErrLost) {
		k.Error(err)
	}
}

func TestAnInterruptedTurnNoticesAtOnce(t *testing.T) {
	for name, interrupt := range interrupts {
		t.Run(name, func(t *testing.T) {
			sim(t, func(k *kit) { k.interrupted(k.watchLeases(), interrupt) })
		})
	}
}

// A change between the start of the turn and the start of its watch is noticed
// too.
func TestAnInterruptBeforeTheWatchIsNoticed(t *testing.T) {
	for name, interrupt := range interrupts {
		t.Run(name, func(t *testing.T) {
			sim(t, func(k *kit) {
				w := k.watchLeases()
				time.Sleep(time.Minute) // until changes are recorded
				w.begin = make(chan struct{})
				k.interrupted(w, interrupt)
			})
		})
	}
}

// All turns share one watch. A turn's own claim triggers no renewal.
func TestTurnsShareOneWatch(t *testing.T) {
	sim(t, func(k *kit) {
		w := k.watchLeases()
		sent := &unreliable{Service: k.service}
		k.runner.Service = sent
		k.commit(&agent.PutSession{Session: "other", Agent: "a"})
		time.Sleep(time.Minute)
		if n := w.ever.Load(); n != 0 {
			k.Fatalf("%d watches before any turn", n)
		}
		run := func() {
			_, err := k.runner.Turn(k.Context(), "s", request("r"), func(*turn.Turn) error {
				_, err := k.runner.Turn(k.Context(), "other", request("r"), func(*turn.Turn) error {
					time.Sleep(ttl / 10)
					return nil
				})
				return err
			})
			if err != nil {
				k.Error(err)
			}
		}
		run()
		time.Sleep(time.Second)
		run()
		if open, ever := w.open.Load(), w.ever.Load(); open != 1 || ever != 1 {
			k.Errorf("after four turns %d watches are open, of %d", open, ever)
		}
		for _, c := range sent.sent {
			for _, op := range c.Ops {
				if _, ok := op.(*agent.RenewSession); ok {
					k.Errorf("renewed before its time: %+v", op)
				}
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := w.open.Load(); n != 0 {
			k.Errorf("%d watches are open without a turn", n)
		}
		run()
		if n := w.ever.Load(); n != 2 {
			k.Errorf("%d watches: a later turn needs one too", n)
		}
	})
}

// The end of an earlier turn does not end the watch while a later one runs.
func TestAWatchOutlivesItsNewestTurn(t *testing.T) {
	sim(t, func(k *kit) {
		w := k.watchLeases()
		time.Sleep(time.Minute) // until changes are recorded
		for range 4 {
			if _, err := k.runner.Turn(k.Context(), "s", request("r"), func(*turn.Turn) error {
				time.Sleep(time.Second) // virtual: the watch has begun
				return nil
			}); err != nil {
				k.Error(err)
			}
			time.Sleep(6 * time.Second) // less than watchIdleTimeout
		}
		if n := w.ever.Load(); n != 1 {
			k.Errorf("%d watches", n)
		}
	})
}
