package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/store"
)

func entries(n int) []agent.Draft {
	all := make([]agent.Draft, n)
	for i := range all {
		all[i] = agent.Draft{Kind: agent.KindNote}
	}
	return all
}

// later calls f in a second, and before the test ends.
func later(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	time.AfterFunc(time.Second, func() { defer close(done); f() })
	t.Cleanup(func() { <-done })
}

// A watch yields each entry once, in order: those that are there, more than one page of them, and those
// that come.
func TestAWatchYieldsEachEntryOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := open(t, store.Options{})
		for range 3 {
			commit(t, s, &agent.AppendThread{Thread: "t", Entries: entries(200)})
		}
		ctx, cancel := context.WithCancel(t.Context())
		w := watch(ctx, t, s, agent.Watch{Thread: "t", From: 1})
		for seq := uint64(1); seq < 610; seq++ {
			if seq == 600 {
				later(t, func() { commit(t, s, &agent.AppendThread{Thread: "t", Entries: entries(10)}) })
			}
			if event := w.event(t); event.Kind != agent.EventEntry || event.Entry.Seq != seq {
				t.Fatalf("%+v, want entry %d", event, seq)
			}
		}
		later(t, cancel)
		w.ended(t)
	})
}

func TestAWatchIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, g := open(t, store.Options{})
		watch(t.Context(), t, s, agent.Watch{Thread: "missing"}).refused(t, agent.CodeNotFound)
		watch(t.Context(), t, s, agent.Watch{}).refused(t, agent.CodeInvalid)
		g.barrier = func() (uint64, error) { return g.machine.Applied() + 1, nil }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		watch(ctx, t, s, agent.Watch{Claim: "c"}).refused(t, agent.CodeUnavailable) // its start is not applied
		g.barrier = func() (uint64, error) { return 0, errNoMajority }
		if event, err, _ := watch(t.Context(), t, s, agent.Watch{Claim: "c"}).next(); !errors.Is(err, errNoMajority) {
			t.Errorf("without a barrier: %+v, %v", event, err)
		}
	})
}

// A thread that is created again under its name is another one.
func TestAWatchEndsWithItsThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := open(t, store.Options{})
		commit(t, s, &agent.AppendThread{Thread: "t", Entries: entries(1)})
		w := watch(t.Context(), t, s, agent.Watch{Thread: "t"})
		w.event(t)
		later(t, func() {
			commit(t, s, &agent.DeleteThread{Thread: "t"}, &agent.AppendThread{Thread: "t", Entries: entries(3)})
		})
		if event := w.event(t); event.Kind != agent.EventDeleted {
			t.Errorf("%+v", event)
		}
		w.ended(t)
	})
}

// A watch of changes begins after its barrier, or where the client left off, and names no change twice.
func TestAFeedBeginsWhereItWasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, g := open(t, store.Options{})
		put := func(keys ...string) uint64 {
			var ops []agent.Op
			for _, key := range keys {
				ops = append(ops, &agent.PutValue{Key: key, Bytes: []byte(key)})
			}
			return commit(t, s, ops...).Index
		}
		follow := func(w agent.Watch) watching { w.Changes = true; return watch(t.Context(), t, s, w) }
		keys := func(event agent.Event) (all string) {
			for _, c := range event.Changes {
				all += fmt.Sprint(c.Index, c.Path(), " ")
			}
			return all
		}
		first := put("a", "b", "c")
		for from, want := range map[agent.Watch]string{
			{From: first}:          fmt.Sprint(first, "values/a ", first, "values/b ", first, "values/c "),
			{From: first, Skip: 2}: fmt.Sprint(first, "values/c "),
			{From: first + 1}:      "",
			{}:                     "",
		} {
			if event := follow(from).event(t); keys(event) != want || event.Through != first {
				t.Errorf("from %d, without %d: %q through %d, want %q", from.From, from.Skip, keys(event), event.Through, want)
			}
		}
		follow(agent.Watch{From: first + 2}).refused(t, agent.CodeInvalid)

		g.barrier = func() (uint64, error) { return first - 1, nil } // more was applied since
		if event := follow(agent.Watch{}).event(t); len(event.Changes) != 3 {
			t.Errorf("after its barrier: %+v", event)
		}
		g.barrier = nil
		if event := follow(agent.Watch{From: first, Body: true}).event(t); event.Changes[0].Body == nil {
			t.Errorf("with bodies: %+v", event.Changes[0])
		}
	})
}

// A feed without matching changes reports how far it is, so that its client does not fall behind what is
// kept; not after each entry.
func TestAFeedReportsProgressNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := open(t, store.Options{})
		w := watch(t.Context(), t, s, agent.Watch{Changes: true, Prefix: "values/other"})
		began := w.event(t).Through
		later(t, func() {
			for range 200 {
				commit(t, s, &agent.PutValue{Key: "k"})
				synctest.Wait()
			}
		})
		for n := uint64(1); n <= 3; n++ {
			if event := w.event(t); len(event.Changes) != 0 || event.Through != began+64*n {
				t.Errorf("report %d: %+v, want progress through %d", n, event, began+64*n)
			}
		}
	})
}

// A watch of a claim yields its holder now, and then each other holder once.
func TestAWatchOfAClaimYieldsEachHolderOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := open(t, store.Options{})
		w := watch(t.Context(), t, s, agent.Watch{Claim: "c"})
		if event := w.event(t); event.Kind != agent.EventClaim || event.Claim.Epoch != 0 {
			t.Errorf("a free claim: %+v", event)
		}
		acquire := &agent.TakeClaim{Claim: "c", Holder: "w1", TTL: time.Minute}
		later(t, func() { commit(t, s, acquire) })
		held := w.event(t).Claim
		if held.Holder != "w1" || held.Epoch == 0 {
			t.Errorf("a held claim: %+v", held)
		}
		later(t, func() {
			commit(t, s, &agent.RenewClaim{Claim: "c", Holder: "w1", Epoch: held.Epoch})
			synctest.Wait()
			commit(t, s, &agent.ReleaseClaim{Claim: "c", Holder: "w1", Epoch: held.Epoch})
		})
		if event := w.event(t); event.Claim.Epoch != 0 {
			t.Errorf("after a renewal and a release: %+v", event)
		}
	})
}
