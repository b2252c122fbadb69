package node_test

import (
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

// A cluster that was down for three days takes its log's time an hour further with each entry.
// Its timers wait until the log's time has caught up: their policy sees all occurrences that were
// missed at once.
func TestTimersAfterThreeDaysOfDowntimeInVirtualTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 1)
		// Of the occurrences after the start the first one is at :55, after the three days at :45.
		time.Sleep(time.Until(time.Now().Truncate(time.Hour).Add(time.Hour + 45*time.Minute)))
		if _, err := w.leader().Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{
			&agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}}},
		}}); err != nil {
			t.Fatal(err)
		}
		policies := []struct {
			key    string
			missed agent.Missed
			max    uint64
			want   uint64 // turns after the downtime
		}{
			{"fire_once", agent.MissedFireOnce, 0, 1},
			{"skip", agent.MissedSkip, 0, 0},
			{"catch_up", agent.MissedCatchUp, 3, 3},
		}
		for _, p := range policies {
			if _, err := here(w.leader()).PutTimer(t.Context(), agent.Timer{
				Manager: "m", Key: p.key, ID: "t", Cron: "55 * * * *", Missed: p.missed, CatchUp: p.max,
				Type: "append", Data: agent.JSON(`{"entries":[{"payload":{"fired":true}}]}`),
			}); err != nil {
				t.Fatal(err)
			}
		}
		next := func(key string) int64 {
			v, err := here(w.leader()).GetTimer(t.Context(), "m", key, "t")
			if err != nil {
				t.Fatal(err)
			}
			return v.Next
		}
		w.await("the first times", func() bool { return next("fire_once") > 0 && next("skip") > 0 && next("catch_up") > 0 })
		w.sleep("n1")
		time.Sleep(72 * time.Hour)
		w.start("n1")
		w.settle(1)
		time.Sleep(time.Minute) // far from the next occurrence
		for _, p := range policies {
			if got := turnsOrNone(t, w.leader(), p.key); got != p.want {
				t.Errorf("%s: %d turns for 72 missed occurrences, want %d", p.key, got, p.want)
			}
			if at, now := next(p.key), time.Now().UnixMilli(); at <= now || at > now+time.Hour.Milliseconds() {
				t.Errorf("%s: the next occurrence is %v away", p.key, time.Duration(at-now)*time.Millisecond)
			}
		}
	})
}

// turnsOrNone returns the number of entries of an instance, which may not exist.
func turnsOrNone(t *testing.T, r *testNode, key string) uint64 {
	t.Helper()
	if _, err := here(r).GetThread(t.Context(), agent.InstanceRef{Manager: "m", Key: key}.Checkpoint()); agent.CodeOf(err) == agent.CodeNotFound {
		return 0
	}
	return turns(t, r, key)
}
