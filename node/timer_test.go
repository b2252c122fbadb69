package node_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/timer"
)

// unsteady are instances that live nowhere in particular: a signal's turn is
// committed through a node, and now and then nobody can be asked, the handler
// fails, or the answer is lost.
type unsteady struct {
	agent.Instances // panics on what timers do not call
	service         agent.Service

	mu      sync.Mutex
	handled int // guarded by mu
	calm    bool
}

func (u *unsteady) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	u.mu.Lock()
	fate := rand.IntN(8)
	if u.calm {
		fate = 7
	}
	u.handled++
	u.mu.Unlock()
	switch fate {
	case 0:
		return agent.Reply{}, agent.Errorf(agent.CodeUnavailable, "nobody knows where it lives")
	case 1:
		return agent.Reply{}, agent.Errorf(agent.CodeInternal, "the handler failed")
	}
	turn := agent.Commit{Scope: ref.Scope, Request: signal.Request, Ops: []agent.Op{
		&agent.AppendThread{Thread: ref.Key, Entries: []agent.Draft{{Payload: agent.JSON(fmt.Sprintf(`{"instant":%d}`, signal.Ack.Instant))}}},
		signal.Ack,
	}}
	_, err := u.service.Commit(ctx, turn)
	if err == nil && fate == 2 {
		err = agent.Errorf(agent.CodeUnknown, "the answer is lost")
	}
	return agent.Reply{Durable: true}, err
}

// wake has a node's timers fired until stopped.
func (w *town) wake(r *resident, u *unsteady) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	waker := timer.New(timer.Options{Source: r.Machine(), Leader: r.Group(), Service: r.Service(), Instances: u})
	ended := make(chan error, 1)
	go func() { ended <- waker.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	}
}

// instants are those of the turns that a key has had.
func instants(t *testing.T, r *resident, key string) (out []int64) {
	t.Helper()
	answers, err := r.Service().Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: key}}})
	if err != nil {
		t.Fatal(err)
	}
	entries, ok := answers.Answers[0].Found.(*agent.Entries)
	if !ok {
		return nil
	}
	for _, e := range entries.Items {
		var at int64
		if _, err := fmt.Sscanf(string(e.Payload), `{"instant":%d}`, &at); err != nil {
			t.Fatal(err)
		}
		out = append(out, at)
	}
	return out
}

// Leaders crash and are cut off, handlers fail, answers are lost: each
// occurrence that is to be caught up with has one turn, in order, and an
// instant has one in all.
func TestEachOccurrenceHasOneTurnSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := simTown(t, 3)
		u := map[string]*unsteady{}
		stops := map[string]func(){}
		rouse := func(name string) {
			r := w.awake[name]
			u[name] = &unsteady{service: r.Service()}
			stops[name] = w.wake(r, u[name])
		}
		for i := range 3 {
			rouse(name(i))
		}
		s := here(w.leader())
		for i := range 3 {
			if _, err := s.PutTimer(t.Context(), agent.Timer{
				Manager: "m", Key: fmt.Sprint("cron", i), ID: "t", Cron: "*/2 * * * * *", Missed: agent.MissedCatchUp, CatchUp: agent.TimerCatchUpMax,
			}); err != nil {
				t.Fatal(err)
			}
			at := time.Now().Add(time.Duration(i) * 10 * time.Second).UnixMilli()
			if _, err := s.PutTimer(t.Context(), agent.Timer{Manager: "m", Key: fmt.Sprint("once", i), ID: "t", Next: at}); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 {
			time.Sleep(time.Duration(rand.IntN(8000)) * time.Millisecond)
			leader := w.leader()
			if rand.IntN(2) == 0 {
				stops[leader.name]()
				w.crash(leader.name)
				time.Sleep(3 * time.Second)
				w.start(leader.name)
				rouse(leader.name)
			} else {
				w.isolate(leader.name)
				time.Sleep(5 * time.Second)
				w.heal()
			}
			w.settle(3)
		}
		for _, u := range u {
			u.mu.Lock()
			u.calm = true
			u.mu.Unlock()
		}
		last := time.Now().UnixMilli()
		w.await("all to be caught up with", func() bool { return caughtUp(t, w.leader(), last) })
		for _, stop := range stops {
			stop()
		}
		judgeTurns(t, w.leader())
		w.agree()
	})
}

// caughtUp tells whether all timers have gone past an instant.
func caughtUp(t *testing.T, r *resident, past int64) bool {
	list, err := here(r).ListTimers(t.Context(), "m", "", agent.Page{})
	if err != nil {
		return false
	}
	for _, v := range list.Items {
		if v.Parked {
			t.Fatalf("%s is parked: %s", v.Key, v.LastError)
		}
		if v.Next <= past {
			return false
		}
	}
	return len(list.Items) == 3
}

func judgeTurns(t *testing.T, r *resident) {
	t.Helper()
	for i := range 3 {
		if got := instants(t, r, fmt.Sprint("once", i)); len(got) != 1 {
			t.Errorf("an instant had turns of %v", got)
		}
		got := instants(t, r, fmt.Sprint("cron", i))
		if len(got) < 5 {
			t.Errorf("a cron had turns of %v only", got)
		}
		for j := 1; j < len(got); j++ {
			if got[j] != got[j-1]+2000 {
				t.Errorf("after %d the cron had a turn of %d", got[j-1], got[j])
			}
		}
	}
}
