package turn_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/turn"
)

func TestATurnCommitsAllThatItCollectedAtOnce(t *testing.T) {
	sim(t, func(k *kit) {
		row, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
			if s := k.expectStatus(agent.SessionRunning); s.Lease.LeaseID == "" || t.Request().ID != "r1" {
				k.Errorf("it runs %+v", t.Request())
			}
			t.Append("t", 0, note(), note())
			t.Commit(
				&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":1}`), Thread: &agent.Pointer{Thread: "t", Rev: 2}},
				&agent.WriteMemory{Agent: "a", Content: "it rained"},
				&agent.TakeClaim{Claim: "umbrella", Holder: "a"})
			for _, wrong := range []agent.JSON{nil, agent.JSON(`{`), agent.JSON(`1 2`)} {
				if t.SetResult(wrong) == nil || t.SetState(wrong) == nil {
					k.Errorf("%q is taken", wrong)
				}
			}
			return t.SetResult(agent.JSON(`"done"`))
		})
		if err != nil || row.Status != agent.SessionFinished {
			k.Fatalf("%+v, %v", row, err)
		}
		s := k.expectStatus(agent.SessionFinished)
		if string(s.Result) != `"done"` || s.Lease != nil || s.Conversation.TurnCount != 1 || s.Conversation.ContinuationRevision != 1 || s.Conversation.LastCompletedRequestID != "r1" {
			k.Errorf("the session: %+v", s)
		}
		if got := find[*agent.Thawed](k, &agent.Thaw{Key: "a"}); len(got.Entries) != 2 {
			k.Errorf("thawed %+v", got)
		}
		if c := find[*agent.Claim](k, &agent.GetClaim{Claim: "umbrella"}); c.Holder != "a" {
			k.Errorf("the claim: %+v", c)
		}
		if m := find[*agent.MemoryList](k, &agent.ListMemories{Agent: "a"}); len(m.Items) != 1 {
			k.Errorf("%d memories", len(m.Items))
		}
	})
}

// A turn whose commit is refused fails with the refusal's code, and nothing of
// it applies.
func TestATurnWhoseCommitIsRefusedFails(t *testing.T) {
	sim(t, func(k *kit) {
		k.commit(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{note()}})
		row, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
			t.Commit(&agent.PutValue{Key: "v", Bytes: []byte("v")})
			t.Append("t", 0, note())
			return nil
		})
		if !errors.Is(err, agent.ErrConflict) || row.Status != agent.SessionFailed {
			k.Fatalf("%+v, %v", row, err)
		}
		if s := k.expectStatus(agent.SessionFailed); failureCode(k, s) != string(agent.CodeConflict) {
			k.Errorf("its failure: %s", s.Failure)
		}
		if n := find[*agent.Scope](k, &agent.GetScope{}); n == nil {
			k.Error("no scope")
		}
		answers, err := k.service.Read(k.Context(), agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "v"}}})
		if err != nil || !errors.Is(answers.Answers[0].Err, agent.ErrNotFound) {
			k.Errorf("the value is there: %+v, %v", answers, err)
		}
	})
}

func TestAFunctionThatFailsEndsItsTurnAsAnError(t *testing.T) {
	own := errors.New("no tea")
	cases := map[string]struct {
		f    func(k *kit, cancel func(), t *turn.Turn) error
		code string
		err  error // of the caller, if it is checked
	}{
		"an error": {func(*kit, func(), *turn.Turn) error { return own }, "turn_failed", own},
		"a panic":  {func(*kit, func(), *turn.Turn) error { panic("no tea") }, "turn_panicked", nil},
		"a panic in an effect": {func(_ *kit, _ func(), t *turn.Turn) error {
			_, err := t.Effect(turn.Effect{ID: "e", Class: turn.Pure}, func(context.Context, turn.Call) (agent.JSON, error) { panic("no tea") })
			return err
		}, "turn_panicked", nil},
		"a refusal": {func(_ *kit, _ func(), t *turn.Turn) error {
			_, err := t.Effect(turn.Effect{ID: "e", Class: "maybe"}, nil)
			return err
		}, "invalid", agent.ErrInvalid},
		"its context": {func(_ *kit, cancel func(), t *turn.Turn) error {
			cancel()
			<-t.Context().Done()
			return t.Context().Err()
		}, "turn_cancelled", context.Canceled},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			sim(t, func(k *kit) {
				ctx, cancel := context.WithCancel(k.Context())
				defer cancel()
				row, err := k.runner.Turn(ctx, "s", request("r1"), func(t *turn.Turn) error {
					t.Append("t", 0, note())
					return c.f(k, cancel, t)
				})
				if err == nil || row.Status != agent.SessionFailed {
					k.Fatalf("%+v, %v", row, err)
				}
				if c.err != nil && !errors.Is(err, c.err) {
					k.Errorf("the error is %v, not %v", err, c.err)
				}
				s := k.expectStatus(agent.SessionFailed)
				if got := failureCode(k, s); got != c.code {
					k.Errorf("its failure is %s, not %s", s.Failure, c.code)
				}
				if s.Requests[0].Outcome != agent.RequestFailed {
					k.Errorf("the request: %+v", s.Requests[0])
				}
				// The next turn finds none of its entries.
				if _, err := k.runner.Turn(k.Context(), "s", request("r2"), func(t *turn.Turn) error {
					t.Append("t", 0, note())
					return nil
				}); err != nil {
					k.Error(err)
				}
			})
		})
	}
}

// A test that calls FailNow in a turn's function ends the goroutine; the
// session then ends with an error.
func TestAFunctionThatEndsItsGoroutineEndsItsTurn(t *testing.T) {
	sim(t, func(k *kit) {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = k.runner.Turn(k.Context(), "s", request("r1"), func(*turn.Turn) error {
				runtime.Goexit()
				return nil
			})
		}()
		<-ended
		if s := k.expectStatus(agent.SessionFailed); failureCode(k, s) != "turn_panicked" {
			k.Errorf("its failure: %s", s.Failure)
		}
	})
}

func TestALeaseIsRenewedForAsLongAsTheTurnRuns(t *testing.T) {
	sim(t, func(k *kit) {
		_, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
			time.Sleep(20 * ttl)
			t.Append("t", 0, note())
			return t.Context().Err()
		})
		if err != nil {
			k.Fatal(err)
		}
		k.expectStatus(agent.SessionFinished)
	})
}

// The first runner is cut off past its lease, as by SIGSTOP, and a second one
// recovers the session. The commit of the first is then refused.
func TestAStaleRunnersCommitIsRefused(t *testing.T) {
	sim(t, func(k *kit) {
		w := &unreliable{Service: k.service}
		first := k.runner
		first.Service = w
		_, err := first.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
			w.set(true)
			<-t.Context().Done()
			if cause := context.Cause(t.Context()); !errors.Is(cause, turn.ErrLost) {
				k.Errorf("the context ended with %v", cause)
			}
			// The lease expires by the log's time too.
			var row agent.SessionRow
			var err error
			for deadline := time.Now().Add(2 * ttl); ; time.Sleep(time.Second) {
				row, err = k.runner.Recover(k.Context(), "s", func(t *turn.Turn) error {
					t.Append("t", 0, agent.Draft{Kind: "second"})
					return nil
				})
				if agent.CodeOf(err) != agent.CodeSessionLeaseActive || time.Now().After(deadline) {
					break
				}
			}
			if err != nil || row.Status != agent.SessionFinished {
				k.Errorf("recovered: %+v, %v", row, err)
			}
			w.set(false)
			_, err = k.service.Commit(k.Context(), agent.Commit{Fence: t.Fence(), Ops: []agent.Op{&agent.PutValue{Key: "v"}}})
			if !errors.Is(err, agent.ErrFenced) {
				k.Errorf("the stale fence: %v", err)
			}
			t.Append("t", 1, agent.Draft{Kind: "first"})
			return nil
		})
		if !errors.Is(err, turn.ErrLost) {
			k.Errorf("the stale turn: %v", err)
		}
		if got := k.kinds(); !slices.Equal(got, []string{"second"}) {
			k.Errorf("the thread: %v", got)
		}
		k.expectStatus(agent.SessionFinished)
	})
}

// If the store has given the session to another runner and this runner's clock
// is behind, the fence refuses its commit.
func TestTheFenceRefusesWhateverTheClockSays(t *testing.T) {
	sim(t, func(k *kit) {
		k.commit(&agent.PutSession{Session: "i", Agent: "a", SessionSettings: agent.SessionSettings{Busy: agent.BusyInterrupt}})
		_, err := k.runner.Turn(k.Context(), "i", request("r1"), func(t *turn.Turn) error {
			if _, err := k.runner.Turn(k.Context(), "i", request("r2"), func(*turn.Turn) error { return nil }); err != nil {
				k.Error(err)
			}
			t.Append("t", 0, note())
			return nil
		})
		if !errors.Is(err, turn.ErrLost) {
			k.Errorf("the interrupted turn: %v", err)
		}
		if n := find[*agent.ThreadList](k, &agent.ListThreads{}); len(n.Items) != 0 {
			k.Errorf("it left %+v", n.Items)
		}
	})
}

func TestAnInterruptedTurnNotices(t *testing.T) {
	sim(t, func(k *kit) {
		k.commit(&agent.PutSession{Session: "i", Agent: "a", SessionSettings: agent.SessionSettings{Busy: agent.BusyInterrupt}})
		_, err := k.runner.Turn(k.Context(), "i", request("r1"), func(t *turn.Turn) error {
			if _, err := k.runner.Turn(k.Context(), "i", request("r2"), func(*turn.Turn) error { return nil }); err != nil {
				k.Error(err)
			}
			since := time.Now()
			<-t.Context().Done()
			if took := time.Since(since); took > ttl/2 {
				k.Errorf("it noticed after %v", took)
			}
			return context.Cause(t.Context())
		})
		if !errors.Is(err, turn.ErrLost) {
			k.Error(err)
		}
	})
}

func TestOneOfTwoRunnersGetsTheTurn(t *testing.T) {
	sim(t, func(k *kit) {
		var ran, refused atomic.Int32
		done := make(chan struct{})
		for _, id := range []string{"r1", "r2"} {
			go func() {
				defer func() { done <- struct{}{} }()
				_, err := k.runner.Turn(k.Context(), "s", request(id), func(*turn.Turn) error {
					ran.Add(1)
					time.Sleep(time.Second)
					return nil
				})
				if agent.CodeOf(err) == agent.CodeSessionAlreadyRunning {
					refused.Add(1)
				}
			}()
		}
		<-done
		<-done
		if ran.Load() != 1 || refused.Load() != 1 {
			k.Errorf("%d ran, %d were refused", ran.Load(), refused.Load())
		}
	})
}

// Each commit of the turn applies, but its runner gets unknown or unavailable.
// It retries under the same id.
func TestAnUnknownOutcomeIsRetriedUnderItsOwnID(t *testing.T) {
	sim(t, func(k *kit) {
		w := &unreliable{Service: k.service}
		attempts := 0
		w.after = func(c agent.Commit, _ agent.Result, err error) error {
			if err == nil && c.Request.Client != "" {
				attempts++
				return []error{nil, agent.Errorf(agent.CodeUnknown, "outcome unknown"), errCut}[attempts%3]
			}
			return nil
		}
		k.runner.Service = w
		calls := 0
		row, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
			_, err := t.Effect(turn.Effect{ID: "e", Class: turn.UnsafeOnce}, func(context.Context, turn.Call) (agent.JSON, error) {
				calls++
				return nil, nil
			})
			t.Append("t", 0, note())
			return err
		})
		if err != nil || row.Status != agent.SessionFinished || calls != 1 {
			k.Fatalf("%+v, %v, %d calls", row, err, calls)
		}
		if got := k.kinds(); len(got) != 1 {
			k.Errorf("the thread: %v", got)
		}
		if attempts != 12 { // claim, intent, result, end
			k.Errorf("%d attempts", attempts)
		}
	})
}

func TestABusySessionQueuesARequest(t *testing.T) {
	sim(t, func(k *kit) {
		k.commit(&agent.PutSession{Session: "q", Agent: "a", SessionSettings: agent.SessionSettings{Busy: agent.BusyEnqueue}})
		var order []string
		note := func(t *turn.Turn) error {
			order = append(order, t.Request().ID)
			return nil
		}
		if _, err := k.runner.Turn(k.Context(), "q", request("r1"), func(t *turn.Turn) error {
			for i, id := range []string{"r2", "r3"} {
				_, err := k.runner.Turn(k.Context(), "q", request(id), note)
				var queued *turn.QueuedError
				if !errors.As(err, &queued) || queued.Place != uint64(i)+1 {
					k.Errorf("%s: %v", id, err)
				}
			}
			return note(t)
		}); err != nil {
			k.Fatal(err)
		}
		// A new request is queued, and the oldest one runs.
		if _, err := k.runner.Turn(k.Context(), "q", request("r4"), note); err != nil {
			k.Fatal(err)
		}
		for range 2 {
			if _, err := k.runner.Next(k.Context(), "q", note); err != nil {
				k.Fatal(err)
			}
		}
		if _, err := k.runner.Next(k.Context(), "q", note); agent.CodeOf(err) != agent.CodeSessionQueueEmpty {
			k.Errorf("the queue: %v", err)
		}
		if !slices.Equal(order, []string{"r1", "r2", "r3", "r4"}) {
			k.Errorf("they ran as %v", order)
		}
	})
}

func TestAClassicSessionIsNotForTurns(t *testing.T) {
	sim(t, func(k *kit) {
		k.commit(&agent.PutSession{Session: "c", Agent: "a", Mode: agent.SessionModeClassic})
		_, err := k.runner.Turn(k.Context(), "c", request("r1"), func(*turn.Turn) error {
			k.Error("it runs")
			return nil
		})
		if !errors.Is(err, agent.ErrInvalid) {
			k.Error(err)
		}
	})
}

func TestATurnAtAnotherRevisionIsRefused(t *testing.T) {
	sim(t, func(k *kit) {
		f := func(*turn.Turn) error { return nil }
		if _, err := k.runner.TurnAt(k.Context(), "s", 7, request("r1"), f); agent.CodeOf(err) != agent.CodeStaleConversationRevision {
			k.Errorf("at revision 7 of 0: %v", err)
		}
		for revision := range uint64(2) {
			if _, err := k.runner.TurnAt(k.Context(), "s", revision, request(strconv.FormatUint(revision, 10)), f); err != nil {
				k.Errorf("at revision %d: %v", revision, err)
			}
		}
	})
}
