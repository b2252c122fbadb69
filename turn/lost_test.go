package turn_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/turn"
)

// ends returns the number of commits that end a turn.
func (w *unreliable) ends() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.sent {
		if _, ok := c.Ops[len(c.Ops)-1].(*agent.CommitSession); ok {
			n++
		}
	}
	return n
}

// Each commit of a turn but its claim and renewals is fenced, and tells the store that it needs the answers
// of earlier ones no more.
func TestCommitsOfATurnAreFencedAndInOrder(t *testing.T) {
	sim(t, func(k *kit) {
		w := &unreliable{Service: k.service}
		k.runner.Service = w
		if _, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
			_, err := t.Effect(turn.Effect{ID: "e", Class: turn.Pure}, count(map[string]int{}, `1`))
			return err
		}); err != nil {
			k.Fatal(err)
		}
		if len(w.sent) != 4 { // claim, intent, result, end
			k.Fatalf("%d commits", len(w.sent))
		}
		for n, c := range w.sent {
			if r := c.Request; r.Seq != uint64(n)+1 || r.Low != r.Seq || r.TTL != time.Hour {
				k.Errorf("commit %d has the request %+v", n, r)
			}
			if fence := c.Fence; (fence != nil) != (n > 0) || fence != nil && fence.Claim != agent.SessionClaim("s") {
				k.Errorf("commit %d has the fence %+v", n, fence)
			}
		}
	})
}

// The outcome of the last commit may stay unknown: then the turn may have finished, and is not ended as
// failed.
func TestAnEndWithoutAnAnswerIsUnknown(t *testing.T) {
	sim(t, func(k *kit) {
		var ends []agent.SessionStatus
		w := &unreliable{Service: k.service, after: func(c agent.Commit, _ agent.Result, _ error) error {
			if _, ok := c.Ops[len(c.Ops)-1].(*agent.CommitSession); ok {
				return agent.Errorf(agent.CodeUnknown, "outcome unknown")
			}
			return nil
		}}
		k.runner.Service = &hooked{Service: w, before: func(c agent.Commit) error {
			op, ok := c.Ops[len(c.Ops)-1].(*agent.CommitSession)
			if !ok {
				return nil
			}
			if ends = append(ends, op.Status); len(ends) > 1 {
				return errCut // no further attempt is sent
			}
			return nil
		}}
		_, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
			t.Append("t", 0, note())
			return nil
		})
		if agent.CodeOf(err) != agent.CodeUnknown || len(ends) < 2 || slices.Contains(ends, agent.SessionFailed) {
			k.Errorf("%v after the ends %v", err, ends)
		}
		k.expectStatus(agent.SessionFinished)
	})
}

// A session that another runner claims between a turn's claim and its first read is lost to the turn.
func TestATurnThatIsInterruptedWhileItBeginsDoesNotRun(t *testing.T) {
	sim(t, func(k *kit) {
		k.commit(&agent.PutSession{Session: "i", Agent: "a", SessionSettings: agent.SessionSettings{Busy: agent.BusyInterrupt}})
		first, interrupted := k.runner, false
		first.Service = &unreliable{Service: k.service, after: func(agent.Commit, agent.Result, error) error {
			if !interrupted {
				interrupted = true
				k.commit(&agent.ClaimSession{Session: "i", Owner: "other", TTL: ttl, Request: &agent.SessionRequest{ID: "r2"}})
			}
			return nil
		}}
		_, err := first.Turn(k.Context(), "i", request("r1"), func(*turn.Turn) error {
			k.Error("it runs")
			return nil
		})
		if !errors.Is(err, turn.ErrLost) {
			k.Error(err)
		}
	})
}

// amnesiac is a service whose sessions have no snapshots.
type amnesiac struct{ agent.Service }

func (s amnesiac) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	answers, err := s.Service.Read(ctx, r)
	for _, a := range answers.Answers {
		if session, ok := a.Found.(*agent.Session); ok {
			session.Snapshots = nil
		}
	}
	return answers, err
}

// A turn whose snapshot is gone does not start again: it would repeat its effects.
func TestATurnWhoseSnapshotIsGoneDoesNotStartAgain(t *testing.T) {
	sim(t, func(k *kit) {
		k.runner.Pause = turn.PauseAfterPrompt
		f := func(t *turn.Turn) error { return t.Reach(agent.PhaseAfterPrompt, "p") }
		if _, err := k.runner.Turn(k.Context(), "s", request("r1"), f); err != nil {
			k.Fatal(err)
		}
		k.runner.Service = amnesiac{k.service}
		_, err := k.runner.Resume(k.Context(), "s", func(*turn.Turn) error {
			k.Error("it runs")
			return nil
		})
		if agent.CodeOf(err) != agent.CodeMissingSnapshot {
			k.Error(err)
		}
	})
}

// Renewals are lost, and snapshots are not: those renew the lease too.
func TestSnapshotsRenewTheLease(t *testing.T) {
	sim(t, func(k *kit) {
		k.runner.Service = &hooked{Service: k.service, before: func(c agent.Commit) error {
			if _, ok := c.Ops[0].(*agent.RenewSession); ok {
				return errCut
			}
			return nil
		}}
		row, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
			for range 8 {
				time.Sleep(ttl / 2)
				if err := t.Save(agent.PhaseWait); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || row.Status != agent.SessionFinished {
			k.Errorf("%s, %v", row.Status, err)
		}
	})
}

// A renewal without an answer holds up nothing: the turn is lost when its lease ends. A renewal that fails is
// repeated while the lease lasts.
func TestRenewalsThatFail(t *testing.T) {
	t.Run("without an answer", func(t *testing.T) {
		sim(t, func(k *kit) {
			k.runner.Service = hanging{k.service}
			_, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
				since := time.Now()
				select {
				case <-t.Context().Done():
				case <-time.After(10 * ttl):
				}
				if took := time.Since(since); took > ttl {
					k.Errorf("the turn is lost after %v", took)
				}
				return context.Cause(t.Context())
			})
			if !errors.Is(err, turn.ErrLost) {
				k.Error(err)
			}
		})
	})
	t.Run("two of three", func(t *testing.T) {
		sim(t, func(k *kit) {
			attempts := 0
			k.runner.Service = &hooked{Service: k.service, before: func(c agent.Commit) error {
				if _, ok := c.Ops[0].(*agent.RenewSession); ok {
					if attempts++; attempts%5 != 0 {
						return errCut
					}
				}
				return nil
			}}
			if _, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
				time.Sleep(5 * ttl)
				return t.Context().Err()
			}); err != nil {
				k.Error(err)
			}
		})
	})
}

// hanging is a service that answers no renewal.
type hanging struct{ agent.Service }

func (s hanging) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if _, ok := c.Ops[0].(*agent.RenewSession); ok {
		<-ctx.Done()
		return agent.Result{}, context.Cause(ctx)
	}
	return s.Service.Commit(ctx, c)
}

// After its lease has ended by its own clock, a turn sends nothing more, whether or not another runner has the
// session.
func TestALostTurnSendsNothing(t *testing.T) {
	sim(t, func(k *kit) {
		w := &unreliable{Service: k.service}
		k.runner.Service = w
		_, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
			w.set(true)
			time.Sleep(2 * ttl)
			w.set(false)
			sent := len(w.sent)
			if err := t.Save(agent.PhaseWait); !errors.Is(err, turn.ErrLost) || len(w.sent) != sent {
				k.Errorf("a snapshot of a lost turn: %v, %d commits", err, len(w.sent)-sent)
			}
			return nil
		})
		if !errors.Is(err, turn.ErrLost) || w.ends() != 0 {
			k.Errorf("%v, %d commits of the end", err, w.ends())
		}
	})
}

// A snapshot that is refused because another runner has the session ends the turn at once.
func TestARefusedSnapshotEndsTheTurn(t *testing.T) {
	sim(t, func(k *kit) {
		k.commit(&agent.PutSession{Session: "i", Agent: "a", SessionSettings: agent.SessionSettings{Busy: agent.BusyInterrupt}})
		_, err := k.runner.Turn(k.Context(), "i", request("r1"), func(t *turn.Turn) error {
			k.commit(&agent.ClaimSession{Session: "i", Owner: "other", TTL: ttl, Request: &agent.SessionRequest{ID: "r2"}})
			if err := t.Save(agent.PhaseWait); !errors.Is(err, turn.ErrLost) || !errors.Is(context.Cause(t.Context()), turn.ErrLost) {
				k.Errorf("%v, and the context ended with %v", err, context.Cause(t.Context()))
			}
			return nil
		})
		if !errors.Is(err, turn.ErrLost) {
			k.Error(err)
		}
	})
}

// A turn that cannot read its session while its lease ends is lost.
func TestATurnThatCannotReadUntilItsLeaseEndsIsLost(t *testing.T) {
	sim(t, func(k *kit) {
		k.runner.Service = hanging{&blind{Service: k.service, reads: 1 << 30}}
		_, err := k.runner.Turn(k.Context(), "s", request("r1"), func(*turn.Turn) error { return nil })
		if !errors.Is(err, turn.ErrLost) {
			k.Error(err)
		}
	})
}

// The context of a turn ends with the turn, so that what its function has left behind ends too.
func TestTheContextOfATurnEndsWithIt(t *testing.T) {
	sim(t, func(k *kit) {
		var left context.Context
		if _, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
			left = t.Context()
			return left.Err()
		}); err != nil {
			k.Fatal(err)
		}
		if left.Err() == nil {
			k.Error("the context goes on after its turn")
		}
	})
}

// A failure is stored in part if it is long.
func TestALongFailureIsCut(t *testing.T) {
	sim(t, func(k *kit) {
		long := errors.New(strings.Repeat("x", 1<<20))
		if _, err := k.runner.Turn(k.Context(), "s", request("r1"), func(*turn.Turn) error { return long }); !errors.Is(err, long) {
			k.Errorf("the error has %d bytes", len(err.Error()))
		}
		if s := k.expectStatus(agent.SessionFailed); len(s.Failure) < 4<<10 || len(s.Failure) > 5<<10 {
			k.Errorf("the stored failure has %d bytes", len(s.Failure))
		}
	})
}
