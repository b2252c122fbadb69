package node_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/store"
)

// A feed that a client follows survives the loss of the node that serves it, and of the leader. It
// reports every write and every expiry once, in the order of the log.
func TestAFeedGoesOnWhenNodesAreLostSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		c := w.dial(t, false, slices.Sorted(maps.Keys(w.awake))...)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		const writes = 60
		feed := make(chan agent.Changed, 4*writes)
		began, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- func() error {
				var from uint64
				for event, err := range c.Watch(ctx, agent.Watch{Changes: true, Prefix: "values/"}) {
					if err != nil || event.Last() {
						return fmt.Errorf("the feed ended after %d: %+v, %w", from, event, err)
					}
					if from == 0 {
						close(began)
					}
					for _, change := range event.Changes {
						feed <- change
					}
					from = event.Through
				}
				return nil
			}()
		}()
		<-began
		var wrote []uint64
		for i := range writes {
			if i%20 == 10 {
				lost := w.leader().name
				if i == 30 {
					lost = w.follower().name
				}
				w.crash(lost)
				time.Sleep(time.Second)
				w.start(lost)
			}
			result, err := c.Commit(ctx, agent.Commit{Ops: []agent.Op{
				&agent.PutValue{Key: fmt.Sprint(i)}, &agent.PutCheckpoint{Key: "aside"}, &agent.PutValue{Key: fmt.Sprint(i, " lapses"), TTL: time.Second},
			}})
			if err != nil {
				t.Fatalf("write %d: %v", i, err)
			}
			wrote = append(wrote, result.Index)
		}
		told := map[string]int{}
		var last agent.Changed
		for range 3 * writes {
			var change agent.Changed
			select {
			case change = <-feed:
			case err := <-ended:
				t.Fatal(err)
			case <-time.After(time.Minute):
				t.Fatalf("nothing more came after %+v", last)
			}
			if change.Index < last.Index || change.Index == last.Index && change.Ordinal <= last.Ordinal {
				t.Fatalf("%+v comes after %+v", change, last)
			}
			last = change
			told[fmt.Sprintf("%s %t", change.Key, change.Deleted)]++
			if !change.Deleted {
				var i int
				if _, err := fmt.Sscan(change.Key, &i); err != nil || wrote[i] != change.Index {
					t.Fatalf("write %d at %d is told as %+v", i, wrote[i], change)
				}
			}
		}
		for i := range writes {
			for _, what := range []string{fmt.Sprint(i, " false"), fmt.Sprint(i, " lapses false"), fmt.Sprint(i, " lapses true")} {
				if told[what] != 1 {
					t.Errorf("%q was told %d times", what, told[what])
				}
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Every node reports an expiry in time, even without writes.
func TestAFeedTellsOfALapseInTimeSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		w.await("changes to be recorded", func() bool { return w.leader().Machine().FeatureLevel() > 1 })
		for name, r := range w.awake {
			ctx, cancel := context.WithCancel(t.Context())
			var began time.Time
			for change, err := range client.In(r.Service(), name).Changes(ctx, agent.Watch{From: w.beginFeed(t, r, name)}) {
				switch {
				case err != nil:
					t.Fatalf("%s: %v", name, err)
				case !change.Deleted:
					began = time.Now()
					continue
				}
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("%s tells of the lapse after %v", name, took)
				}
				break
			}
			cancel()
		}
	})
}

// A feed of new changes that was requested just before changes are recorded is requested again: it
// has lost nothing yet.
func TestAFeedFromNowOnIsNeverCompactedSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 1)
		m := w.awake["n1"].Machine()
		w.await("changes to be recorded", func() bool { return m.FeatureLevel() > 1 })
		before := func(context.Context) (uint64, error) { return 1, nil }
		for event, err := range store.New(store.Options{Machine: m}).WatchFrom(t.Context(), before, agent.Watch{Changes: true}) {
			if agent.CodeOf(err) != agent.CodeUnavailable {
				t.Errorf("it begins with %+v, %v", event, err)
			}
		}
	})
}

// beginFeed takes a claim in a scope and returns the index of that.
func (w *simCluster) beginFeed(t *testing.T, r *testNode, scope string) uint64 {
	t.Helper()
	result, err := r.Service().Commit(t.Context(), agent.Commit{
		Scope: scope, Ops: []agent.Op{&agent.TakeClaim{Claim: "c", Holder: "h", TTL: 2 * time.Second}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return result.Index
}
