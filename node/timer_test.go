package node_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/timer"
)

// beat is a cron's period.
const beat = 2 * time.Second

// setTimers sets a cron and a single timer for each of three instances, whose signals append an
// entry. It returns the first times of the crons.
func setTimers(t *testing.T, r *testNode) (first [3]int64) {
	t.Helper()
	if _, err := r.Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{
		&agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}}},
	}}); err != nil {
		t.Fatal(err)
	}
	data := agent.JSON(`{"entries":[{"payload":{"fired":true}}]}`)
	for i := range first {
		cron, err := here(r).PutTimer(t.Context(), agent.Timer{
			Manager: "m", Key: fmt.Sprint("cron", i), ID: "t", Cron: "*/2 * * * * *", Missed: agent.MissedCatchUp, CatchUp: agent.TimerCatchUpMax,
			Type: "append", Data: data,
		})
		if err != nil {
			t.Fatal(err)
		}
		step, err := timer.Plan(cron, cron.UpdatedAt)
		if err != nil {
			t.Fatal(err)
		}
		first[i] = step.Ack.Next
		at := time.Now().Add(time.Duration(i) * 10 * time.Second).UnixMilli()
		if _, err := here(r).PutTimer(t.Context(), agent.Timer{
			Manager: "m", Key: fmt.Sprint("once", i), ID: "t", Next: at, Type: "append", Data: data,
		}); err != nil {
			t.Fatal(err)
		}
	}
	return first
}

// turns returns the number of entries of an instance.
func turns(t *testing.T, r *testNode, key string) uint64 {
	t.Helper()
	thread, err := here(r).GetThread(t.Context(), agent.InstanceRef{Manager: "m", Key: key}.Checkpoint())
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return thread.Rev
}

// Leaders crash and are cut off, with the instances that they own: each occurrence that must be
// caught up has one turn, and a single timer has one in total.
func TestEachOccurrenceHasOneTurnSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		first := setTimers(t, w.leader())
		for range 3 {
			time.Sleep(time.Duration(rand.IntN(8000)) * time.Millisecond)
			leader := w.leader()
			if rand.IntN(2) == 0 {
				w.crash(leader.name)
				time.Sleep(3 * time.Second)
				w.start(leader.name)
			} else {
				w.isolate(leader.name)
				time.Sleep(5 * time.Second)
				w.heal()
			}
			w.settle(3)
		}
		past := time.Now().UnixMilli()
		var timers []agent.Timer
		w.await("all to be caught up with", func() bool {
			var done bool
			timers, done = caughtUp(t, w.leader(), past)
			return done
		})
		for i, v := range timers {
			// The timer and its effect are of one commit, but not of one read.
			for tries := 0; turns(t, w.leader(), v.Key) != uint64(v.Next-first[i])/uint64(beat.Milliseconds()); tries++ {
				if tries == 10 {
					t.Fatalf("%s first came at %d, is to come at %d, and had %d turns", v.Key, first[i], v.Next, turns(t, w.leader(), v.Key))
				}
				again, err := here(w.leader()).GetTimer(t.Context(), "m", v.Key, "t")
				if err != nil {
					t.Fatal(err)
				}
				v = *again
			}
			if got := turns(t, w.leader(), fmt.Sprint("once", i)); got != 1 {
				t.Errorf("an instant had %d turns", got)
			}
		}
	})
}

// caughtUp returns the timers once all are past a time.
func caughtUp(t *testing.T, r *testNode, past int64) ([]agent.Timer, bool) {
	t.Helper()
	list, err := here(r).ListTimers(t.Context(), "m", "", agent.Page{})
	if err != nil {
		return nil, false
	}
	for _, v := range list.Items {
		if v.Parked {
			t.Fatalf("%s is parked: %s", v.Key, v.LastError)
		}
		if v.Next <= past {
			return nil, false
		}
	}
	return list.Items, len(list.Items) == 3
}
