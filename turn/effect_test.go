package turn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"dormouse/agent"
	"dormouse/turn"
)

// count returns a capability that counts its calls by key.
func count(calls map[string]int, answer string) turn.Capability {
	return func(_ context.Context, c turn.Call) (agent.JSON, error) {
		calls[c.Key]++
		return agent.JSON(answer), nil
	}
}

// crash runs a turn whose service is cut off during a call of an effect, and
// waits until its lease has expired.
func crash(k *kit, class turn.Class, calls map[string]int) {
	k.Helper()
	w := &unreliable{Service: k.service}
	first := k.runner
	first.Service = w
	_, err := first.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
		if _, err := t.Effect(turn.Effect{ID: "before", Class: turn.UnsafeOnce}, count(calls, `"kept"`)); err != nil {
			return err
		}
		_, err := t.Effect(turn.Effect{ID: "e", Name: "send", Class: class, Input: agent.JSON(`{"to": "ada"}`)},
			func(ctx context.Context, c turn.Call) (agent.JSON, error) {
				calls[c.Key]++
				w.set(true)
				<-ctx.Done()
				return agent.JSON(`"too late"`), nil
			})
		return err
	})
	if !errors.Is(err, turn.ErrLost) {
		k.Fatalf("the runner that crashes: %v", err)
	}
	k.expectStatus(agent.SessionRunning)
	for deadline := time.Now().Add(2 * ttl); !k.session().Recoverable; time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			k.Fatal("the lease does not lapse")
		}
	}
}

// A runner crashes between an effect's intent and its result. The runner that
// recovers the session calls the effect again under the same key if its class
// permits that, and otherwise fails. Effects with a result are not called.
func TestACrashBetweenIntentAndResult(t *testing.T) {
	for class, again := range map[turn.Class]bool{
		turn.Pure: true, turn.Idempotent: true, turn.Dedupe: false, turn.Reconcile: false, turn.UnsafeOnce: false,
	} {
		t.Run(string(class), func(t *testing.T) {
			sim(t, func(k *kit) {
				calls := map[string]int{}
				crash(k, class, calls)
				row, err := k.runner.Recover(k.Context(), "s", func(t *turn.Turn) error {
					if kept, err := t.Effect(turn.Effect{ID: "before", Class: turn.UnsafeOnce}, count(calls, `"anew"`)); err != nil || string(kept) != `"kept"` {
						k.Errorf("what had a result answers %s, %v", kept, err)
					}
					got, err := t.Effect(turn.Effect{ID: "e", Name: "send", Class: class, Input: agent.JSON(`{"to":"ada"}`)}, count(calls, `"sent"`))
					if err == nil && string(got) != `"sent"` {
						k.Errorf("it answers %s", got)
					}
					return nil // the function cannot ignore a failed effect
				})
				most := 0
				for _, n := range calls {
					most = max(most, n)
				}
				if len(calls) != 2 {
					k.Errorf("the keys: %v", calls)
				}
				if again {
					if err != nil || row.Status != agent.SessionFinished || most != 2 {
						k.Errorf("%+v, %v, %v", row, err, calls)
					}
					return
				}
				var incomplete *turn.IncompleteError
				if !errors.As(err, &incomplete) || incomplete.Effect != "e" || incomplete.Class != class || calls[incomplete.Key] != 1 {
					k.Errorf("%v, %v", err, calls)
				}
				if s := k.expectStatus(agent.SessionFailed); failureCode(k, s) != "effect_incomplete" {
					k.Errorf("its failure: %s", s.Failure)
				}
			})
		})
	}
}

// A turn that crashes before its first snapshot starts again.
func TestATurnWithoutASnapshotStartsAgain(t *testing.T) {
	sim(t, func(k *kit) {
		claimed := k.commit(&agent.ClaimSession{Session: "s", Owner: "gone", TTL: agent.ClaimTTLMin, Request: &agent.SessionRequest{ID: "r1"}})
		if claimed.Index == 0 {
			k.Fatal("no claim")
		}
		time.Sleep(2 * agent.ClaimTTLMin)
		row, err := k.runner.Recover(k.Context(), "s", func(t *turn.Turn) error {
			if t.Request().ID != "r1" || t.State() != nil {
				k.Errorf("it answers %+v with state %s", t.Request(), t.State())
			}
			return nil
		})
		if err != nil || row.Status != agent.SessionFinished {
			k.Errorf("%+v, %v", row, err)
		}
	})
}

// The intent is stored before the call, and the result after it.
func TestTheIntentIsStoredBeforeACallAndItsResultAfterIt(t *testing.T) {
	sim(t, func(k *kit) {
		kept := func() (phase agent.CursorPhase, state string) {
			s := k.session()
			if len(s.Snapshots) == 0 {
				return "", ""
			}
			newest := s.Snapshots[len(s.Snapshots)-1]
			return newest.Cursor.Phase, string(newest.TurnState)
		}
		_, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
			if err := t.SetState(agent.JSON(`{"step": 1}`)); err != nil {
				return err
			}
			_, err := t.Effect(turn.Effect{ID: "e", Name: "<send>", Class: turn.Dedupe, Input: agent.JSON(`9007199254740993`)},
				func(context.Context, turn.Call) (agent.JSON, error) {
					want := `{"version":1,"effects":[{"id":"e","name":"<send>","class":"dedupe","input":9007199254740993,"begun":true}],"state":{"step":1}}`
					if phase, state := kept(); phase != agent.PhaseBeforeEffect || state != want {
						k.Errorf("before the call: %s %s", phase, state)
					}
					return agent.JSON(`[1, 2]`), nil
				})
			want := `{"version":1,"effects":[{"id":"e","name":"<send>","class":"dedupe","input":9007199254740993,"begun":true,"ended":true,"result":[1,2]}],"state":{"step":1}}`
			if phase, state := kept(); phase != agent.PhaseWait || state != want {
				k.Errorf("after the call: %s %s", phase, state)
			}
			return err
		})
		if err != nil {
			k.Error(err)
		}
	})
}

// journals counts the intents and the results in each snapshot that a turn commits.
type journals struct {
	agent.Service
	begun, ended []int // used by one commit at a time
}

func (j *journals) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	for _, op := range c.Ops {
		if op, ok := op.(*agent.CheckpointSession); ok {
			state := string(op.Snapshot.TurnState)
			j.begun = append(j.begun, strings.Count(state, `"begun":true`))
			j.ended = append(j.ended, strings.Count(state, `"ended":true`))
		}
	}
	return j.Service.Commit(ctx, c)
}

// A snapshot without what a newer one has would let an effect be called twice after a crash.
func TestConcurrentEffectsReplaceNoNewerSnapshot(t *testing.T) {
	sim(t, func(k *kit) {
		kept := &journals{Service: k.runner.Service}
		k.runner.Service = kept
		const callers, each = 8, 20
		_, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
			var calls errgroup.Group
			for n := range callers {
				calls.Go(func() error {
					for i := range each {
						e := turn.Effect{ID: fmt.Sprintf("e%d-%d", n, i), Name: "charge", Class: turn.UnsafeOnce}
						if _, err := t.Effect(e, func(context.Context, turn.Call) (agent.JSON, error) { return agent.JSON(`1`), nil }); err != nil {
							return err
						}
					}
					return nil
				})
			}
			return calls.Wait()
		})
		if err != nil {
			k.Fatal(err)
		}
		if !slices.IsSorted(kept.begun) || !slices.IsSorted(kept.ended) || kept.begun[len(kept.begun)-1] != callers*each {
			k.Errorf("snapshots lost what was stored: intents %v, results %v", kept.begun, kept.ended)
		}
	})
}

// An effect's error is a recorded result.
func TestAFailedEffectIsNotCalledAgain(t *testing.T) {
	sim(t, func(k *kit) {
		broken := errors.New("no paper")
		calls := 0
		f := func(t *turn.Turn) error {
			_, err := t.Effect(turn.Effect{ID: "print", Class: turn.Pure}, func(context.Context, turn.Call) (agent.JSON, error) {
				calls++
				return nil, broken
			})
			var call *turn.CallError
			if !errors.As(err, &call) || call.Message != "no paper" {
				k.Errorf("it answers %v", err)
			}
			return t.Reach(agent.PhaseAfterPrompt, "printed")
		}
		k.runner.Pause = turn.PauseAfterPrompt
		if row, err := k.runner.Turn(k.Context(), "s", request("r1"), f); err != nil || row.Status != agent.SessionHibernated {
			k.Fatalf("%+v, %v", row, err)
		}
		if row, err := k.runner.Resume(k.Context(), "s", f); err != nil || row.Status != agent.SessionFinished {
			k.Fatalf("%+v, %v", row, err)
		}
		if calls != 1 {
			k.Errorf("%d calls", calls)
		}
	})
}

func TestANondeterministicFunctionIsRefused(t *testing.T) {
	sim(t, func(k *kit) {
		k.runner.Pause = turn.PauseAfterPrompt
		input := `1`
		f := func(t *turn.Turn) error {
			if _, err := t.Effect(turn.Effect{ID: "e", Class: turn.Pure, Input: agent.JSON(input)}, count(map[string]int{}, `1`)); err != nil {
				return err
			}
			return t.Reach(agent.PhaseAfterPrompt, "p")
		}
		if _, err := k.runner.Turn(k.Context(), "s", request("r1"), f); err != nil {
			k.Fatal(err)
		}
		input = `2`
		if _, err := k.runner.Resume(k.Context(), "s", f); !errors.Is(err, agent.ErrInvalid) {
			k.Error(err)
		}
		k.expectStatus(agent.SessionFailed)
	})
}

// A turn pauses at each boundary of its policy once, and continues after it.
func TestTurnsPauseWhereThePolicySays(t *testing.T) {
	for policy, pauses := range map[turn.Policy]int{
		"": 0, turn.PauseNever: 0, turn.PauseAfterPrompt: 1, turn.PauseBeforeEachEffect: 2, turn.PauseAfterEachPhase: 3,
	} {
		t.Run("policy "+string(policy), func(t *testing.T) {
			sim(t, func(k *kit) {
				k.runner.Pause = policy
				calls := map[string]int{}
				f := func(t *turn.Turn) error {
					t.Append("t", 0, note())
					if err := t.Reach(agent.PhaseAfterPrompt, "prompt"); err != nil {
						return err
					}
					for _, id := range []string{"e1", "e2"} {
						if _, err := t.Effect(turn.Effect{ID: id, Class: turn.UnsafeOnce}, count(calls, `1`)); err != nil {
							return err
						}
					}
					return nil
				}
				row, err := k.runner.Turn(k.Context(), "s", request("r1"), f)
				paused := 0
				for ; err == nil && row.Status == agent.SessionHibernated; paused++ {
					row, err = k.runner.Resume(k.Context(), "s", f)
				}
				if err != nil || row.Status != agent.SessionFinished || paused != pauses {
					k.Errorf("%d pauses, then %+v, %v", paused, row, err)
				}
				for key, n := range calls {
					if n != 1 {
						k.Errorf("%s was called %d times", key, n)
					}
				}
				if len(calls) != 2 || len(k.kinds()) != 1 {
					k.Errorf("%v, %v", calls, k.kinds())
				}
			})
		})
	}
}

// A turn pauses at boundaries of one name in different phases, and its snapshot tells the phase. The snapshot of
// its end has the state.
func TestASnapshotTellsWhereTheTurnPaused(t *testing.T) {
	sim(t, func(k *kit) {
		k.runner.Pause = turn.PauseAfterEachPhase
		f := func(t *turn.Turn) error {
			if err := t.Reach(agent.PhaseAfterPrompt, "p"); err != nil {
				return err
			}
			if err := t.Reach(agent.PhaseBeforeEffect, "p"); err != nil {
				return err
			}
			return t.SetState(agent.JSON(`"over"`))
		}
		row, err := k.runner.Turn(k.Context(), "s", request("r1"), f)
		var phases []agent.CursorPhase
		for err == nil && row.Status == agent.SessionHibernated {
			kept := k.session().Snapshots
			phases = append(phases, kept[len(kept)-1].Cursor.Phase)
			row, err = k.runner.Resume(k.Context(), "s", f)
		}
		if err != nil || !slices.Equal(phases, []agent.CursorPhase{agent.PhaseAfterPrompt, agent.PhaseBeforeEffect}) {
			k.Errorf("it paused in %v, then %v", phases, err)
		}
		if state := k.newest(); !strings.Contains(state, `"over"`) {
			k.Errorf("the last snapshot is %s", state)
		}
	})
}
