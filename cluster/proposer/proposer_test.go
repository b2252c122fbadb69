package proposer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
)

// A node may have voted in a later term before it hears that its own term has ended.
func TestALeaderThatIsInALaterTermConfirmsNoRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, logs := led(t)
		x := NewReadIndex(ReadIndexOptions{Node: "n1", Logs: logs}, p)
		current := p.Raft.CurrentTerm()
		for term, confirms := range map[uint64]bool{current: true, current - 1: false} {
			p.Term.Store(&Term{Number: term})
			if _, ok := x.round(t.Context()); ok != confirms {
				t.Errorf("in term %d of %d, a round confirms a read: %v", term, current, ok)
			}
			if _, ok := x.ConfirmedBy("n2", term); ok != confirms {
				t.Errorf("in term %d of %d, another node confirms a read: %v", term, current, ok)
			}
			x.resume = time.Time{}
		}
	})
}

// A node that submitted one of an entry's commits hears soon that the entry is committed.
func TestAnEntryIsRemoteIfAnyOfItsCommitsIs(t *testing.T) {
	for _, remotes := range [][]bool{{true, false}, {false, true}, {false, false}} {
		p := New(Options{Metrics: NewMetrics()})
		for _, remote := range remotes {
			p.queue.add("", pending{ctx: t.Context(), remote: remote})
		}
		if b := p.cut(); b.remote != (remotes[0] || remotes[1]) {
			t.Errorf("an entry of commits that are remote %v: %v", remotes, b.remote)
		}
	}
}

func TestTheProposerIsHeldUntilAllCallersHaveResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		ctx, cancel := context.WithCancelCause(t.Context())
		gaveUp := errors.New("gave up")
		resumes := make(chan func(), 2)
		for range 2 {
			go func() {
				resume, err := p.Hold(t.Context())
				if err != nil {
					t.Error(err)
				}
				resumes <- resume
			}()
			synctest.Wait()
		}
		go func() {
			if _, err := p.Hold(ctx); !errors.Is(err, gaveUp) {
				t.Errorf("a caller that gave up holds it: %v", err)
			}
		}()
		synctest.Wait()
		cancel(gaveUp)
		synctest.Wait()
		if len(resumes) != 0 {
			t.Fatal("Hold returned while an entry may be in flight")
		}
		for left := 2; left > 0; left-- {
			if !p.held() {
				t.Fatalf("%d callers hold it, and it sends", left)
			}
			synctest.Wait()
			(<-resumes)()
		}
		if p.held() {
			t.Error("all callers have resumed or given up, and it sends nothing")
		}
	})
}

// future is what Raft answers for an entry.
type future struct {
	raft.ApplyFuture
	ended    chan struct{}
	response any
}

func (f future) Error() error  { <-f.ended; return nil }
func (f future) Response() any { return f.response }
func (f future) Index() uint64 { return 7 }
func settledFuture(r any) future {
	f := future{ended: make(chan struct{}), response: r}
	close(f.ended)
	return f
}

// Raft does not answer for an entry that it was about to apply when it stopped.
func TestAnEntryInFlightWhenTheNodeStopsIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{Metrics: NewMetrics()})
		b := &batch{p: p, future: future{ended: make(chan struct{})}}
		defer close(b.future.(future).ended)
		p.Abandon()
		if p.await(b); b.err == nil || b.err.Code != agent.CodeUnknown {
			t.Errorf("the outcome is %v", b.err)
		}
	})
}

func TestAnEntryThatTheMachineDidNotDecideIsUnknownAndFatal(t *testing.T) {
	for name, c := range map[string]struct {
		response any
		fatal    bool
	}{
		"one decision for each commit": {make([]agent.Decided, 2), false},
		"too few":                      {make([]agent.Decided, 1), true},
		"too many":                     {make([]agent.Decided, 3), true},
		"an error":                     {errors.New("x"), true},
	} {
		fatal := false
		p := New(Options{Metrics: NewMetrics(), Fatal: func(error) { fatal = true }})
		b := &batch{p: p, cmds: make([][]byte, 2), future: settledFuture(c.response)}
		b.settle(nil)
		if unknown := b.err != nil && b.err.Code == agent.CodeUnknown; fatal != c.fatal || unknown != c.fatal {
			t.Errorf("%s: fatal %v, %v", name, fatal, b.err)
		}
	}
}

// While the disk is full, what falls due waits, and reads do not.
func TestNothingIsSweptWhileTheDiskIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := led(t)
		p.Machine.(*idle).tick = 1
		if b, _ := p.take(time.Now()); b == nil || !b.due {
			t.Fatalf("what is due is not swept: %+v", b)
		}
		time.Sleep(time.Second)
		p.Writable = func() error { return errors.New("full") }
		if b, wait := p.take(time.Now()); b != nil || wait != readOnlyPause {
			t.Errorf("an entry for what is due, or a wait of %v", wait)
		}
		p.readers = make([]chan reading, 1)
		if b, _ := p.take(time.Now()); b == nil || b.due {
			t.Error("a read has no entry")
		}
	})
}

// An empty entry tells other nodes what is committed, unless another entry does within a moment.
func TestAnAnnouncementWaitsForTheNextEntryEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := led(t)
		for round := range uint64(2) {
			p.announceAt.Store(p.announced + 1)
			if b, wait := p.take(time.Now()); b != nil || wait != announceAfter {
				t.Fatalf("round %d: an entry at once, or a wait of %v", round, wait)
			}
			p.queue.add("", pending{ctx: t.Context()})
			if b, _ := p.take(time.Now()); b == nil {
				t.Fatalf("round %d: no entry for a commit", round)
			}
			p.announced++ // as send does
			time.Sleep(time.Second)
		}
		p.announceAt.Store(p.announced + 1)
		if b, wait := p.take(time.Now()); b != nil || wait != announceAfter {
			t.Fatalf("an entry at once, or a wait of %v", wait)
		}
		time.Sleep(announceAfter)
		if b, _ := p.take(time.Now()); b == nil || len(b.cmds) != 0 {
			t.Errorf("the announcement is %+v", b)
		}
	})
}

// A caller that stops waiting does not know whether its commit is sent.
func TestTheOutcomeForACallerThatGaveUpIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{Metrics: NewMetrics(), Term: new(atomic.Pointer[Term]), Writable: func() error { return nil }})
		p.Term.Store(&Term{})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := p.Commit(ctx, []byte("x")); agent.CodeOf(err) != agent.CodeUnknown {
			t.Errorf("the outcome is %v", err)
		}
	})
}

func TestTheReadsThatWaitAreBounded(t *testing.T) {
	p := New(Options{Metrics: NewMetrics(), Term: new(atomic.Pointer[Term])})
	p.Term.Store(&Term{})
	x := NewReadIndex(ReadIndexOptions{}, p)
	p.readers, x.readers = make([]chan reading, readersMax-1), make([]chan reading, readersMax-1)
	for what, join := range map[string]func(chan reading) *agent.Error{"the log": p.join, "a round": x.join} {
		if err := join(nil); err != nil {
			t.Errorf("the last read that may wait for %s: %v", what, err)
		}
		if err := join(nil); err == nil || err.Code != agent.CodeOverloaded || err.RetryAfterMS == 0 {
			t.Errorf("one read too many waits for %s: %v", what, err)
		}
	}
}
