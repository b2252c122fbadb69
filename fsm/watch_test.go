package fsm_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

func TestAWatcherIsSignalledOnceForAllThatItHasNotSeen(t *testing.T) {
	r := newSubject(t)
	changed, cancel := r.machine.WatchThread(agent.DefaultScope, "t")
	other, cancelOther := r.machine.WatchThread(agent.DefaultScope, "other")
	defer cancelOther()
	signalled := func() bool {
		select {
		case <-changed:
			return true
		default:
			return false
		}
	}
	if signalled() {
		t.Fatal("signalled before anything changed")
	}
	do[*agent.ThreadResult](r, appendTo("t", `{}`))
	do[*agent.ThreadResult](r, appendTo("t", `{}`))
	if !signalled() || signalled() {
		t.Fatal("two changes are not one signal")
	}
	do[*agent.DeleteResult](r, &agent.DeleteThread{Thread: "t"})
	if !signalled() {
		t.Fatal("no signal of a delete")
	}
	do[*agent.DeleteResult](r, &agent.DeleteScope{})
	if !signalled() {
		t.Fatal("no signal of a deleted scope")
	}
	cancel()
	cancel()
	do[*agent.ThreadResult](r, appendTo("t", `{}`))
	if signalled() {
		t.Fatal("signalled after cancel")
	}
	<-other // of the scope
}

func TestAWatchPageTellsWhatIsThere(t *testing.T) {
	r := newSubject(t)
	view := r.machine.View()
	defer view.Close()
	incarnation := do[*agent.ThreadResult](r, appendTo("t", `{}`, `{}`, `{}`)).Thread.Incarnation
	if page, err := view.WatchPage("", "t", 0, 0, 10); err != nil || page.Exists {
		t.Fatalf("an older view: %+v, %v", page, err)
	}
	do[*agent.ThreadResult](r, &agent.CompactThread{Thread: "t", BeforeSeq: 1})
	now := r.machine.View()
	defer now.Close()
	page, err := now.WatchPage("", "t", 0, 1, 1)
	if err != nil || !page.Exists || page.Incarnation != incarnation || page.Rev != 3 || page.Floor != 1 || len(page.Entries) != 1 || page.Entries[0].Seq != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	if page, err := now.WatchPage("", "t", incarnation, 0, 10); err != nil || len(page.Entries) != 0 || page.Floor != 1 {
		t.Fatalf("below the floor: %+v, %v", page, err)
	}
	if page, err := now.WatchPage("", "t", incarnation+1, 1, 10); err != nil || page.Exists || page.Incarnation != incarnation {
		t.Fatalf("another incarnation: %+v, %v", page, err)
	}
}

func TestWaitAppliedReturnsWhenAViewWouldSeeTheEntry(t *testing.T) {
	r := newSubject(t)
	synctest.Test(t, func(t *testing.T) {
		done := make(chan error, 1)
		go func() { done <- r.machine.WaitApplied(t.Context(), 2) }()
		r.batch()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("returned at entry 1: %v", err)
		default:
		}
		r.batch()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.machine.WaitApplied(ctx, 99); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v", err)
		}
	})
}
