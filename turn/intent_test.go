package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"dormouse/agent"
	"dormouse/turn"
)

// hooked is a service with a function that is called before each commit; its error is the commit's.
type hooked struct {
	agent.Service
	before func(c agent.Commit) error
}

func (h *hooked) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if err := h.before(c); err != nil {
		return agent.Result{}, err
	}
	return h.Service.Commit(ctx, c)
}

// beforeSnapshots returns a service that calls f before each snapshot of a phase.
func beforeSnapshots(s agent.Service, phase agent.CursorPhase, f func() error) agent.Service {
	return &hooked{Service: s, before: func(c agent.Commit) error {
		if op, ok := c.Ops[0].(*agent.CheckpointSession); ok && op.Snapshot.Cursor.Phase == phase {
			return f()
		}
		return nil
	}}
}

// newest returns the state of the newest snapshot of session s, or "".
func (k *kit) newest() string {
	k.Helper()
	s := k.session()
	if len(s.Snapshots) == 0 {
		return ""
	}
	return string(s.Snapshots[len(s.Snapshots)-1].TurnState)
}

// A turn whose intent or result cannot be stored fails, whatever its function does. Without a stored
// intent nothing is called.
func TestATurnThatCannotStoreAnEffectFails(t *testing.T) {
	full := agent.Errorf(agent.CodeQuotaExceeded, "no room")
	for phase, calls := range map[agent.CursorPhase]int32{agent.PhaseBeforeEffect: 0, agent.PhaseWait: 1} {
		for name, told := range map[string]error{"ignores the error": nil, "pauses": turn.ErrPaused} {
			t.Run(fmt.Sprint(phase, " ", name), func(t *testing.T) {
				sim(t, func(k *kit) {
					k.runner.Service = beforeSnapshots(k.service, phase, func() error { return full })
					var called atomic.Int32
					row, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
						_, err := t.Effect(turn.Effect{ID: "e", Class: turn.UnsafeOnce}, func(context.Context, turn.Call) (agent.JSON, error) {
							called.Add(1)
							return nil, nil
						})
						if agent.CodeOf(err) != agent.CodeQuotaExceeded {
							k.Errorf("the effect: %v", err)
						}
						return told
					})
					if row.Status != agent.SessionFailed || err == nil || called.Load() != calls {
						k.Errorf("%s, %v; %d calls", row.Status, err, called.Load())
					}
				})
			})
		}
	}
}

// An effect is not begun after its turn's context has ended, and not called if the context ends while its
// intent is stored.
func TestAnEffectIsNotCalledAfterItsTurnWasCancelled(t *testing.T) {
	for name, late := range map[string]bool{"before the intent": false, "while the intent is stored": true} {
		t.Run(name, func(t *testing.T) {
			sim(t, func(k *kit) {
				ctx, cancel := context.WithCancel(k.Context())
				defer cancel()
				k.runner.Service = beforeSnapshots(k.service, agent.PhaseBeforeEffect, func() error {
					cancel()
					return nil
				})
				row, err := k.runner.Turn(ctx, "s", request("r1"), func(t *turn.Turn) error {
					if !late {
						cancel()
					}
					_, err := t.Effect(turn.Effect{ID: "e", Class: turn.Pure}, func(context.Context, turn.Call) (agent.JSON, error) {
						k.Error("it is called")
						return nil, nil
					})
					return err
				})
				if row.Status != agent.SessionFailed || !errors.Is(err, context.Canceled) || strings.Contains(k.newest(), "begun") != late {
					k.Errorf("%s, %v; the snapshot is %s", row.Status, err, k.newest())
				}
			})
		})
	}
}

// A call that fails because its turn was cancelled has no known outcome. One that succeeds has one, and it
// is stored.
func TestACallThatEndsAfterItsTurnWasCancelled(t *testing.T) {
	for name, failure := range map[string]error{"fails": context.Canceled, "succeeds": nil} {
		t.Run(name, func(t *testing.T) {
			sim(t, func(k *kit) {
				ctx, cancel := context.WithCancel(k.Context())
				defer cancel()
				_, err := k.runner.Turn(ctx, "s", request("r1"), func(t *turn.Turn) error {
					got, err := t.Effect(turn.Effect{ID: "e", Class: turn.UnsafeOnce}, func(context.Context, turn.Call) (agent.JSON, error) {
						cancel()
						return agent.JSON(`7`), failure
					})
					if failure == nil && (err != nil || string(got) != "7") {
						k.Errorf("the effect: %s, %v", got, err)
					}
					return errors.Join(err, t.Context().Err())
				})
				if !errors.Is(err, context.Canceled) || strings.Contains(k.newest(), `"ended":true`) != (failure == nil) {
					k.Errorf("%v; the snapshot is %s", err, k.newest())
				}
			})
		})
	}
}

// The text of a failure is stored, and an answer that is not JSON is a failure. Both stay failures when the
// turn runs again.
func TestAFailureStaysAFailure(t *testing.T) {
	for want, call := range map[string]turn.Capability{
		"unnamed error": func(context.Context, turn.Call) (agent.JSON, error) { return nil, errors.New("") },
		"its result":    func(context.Context, turn.Call) (agent.JSON, error) { return agent.JSON(`{`), nil },
	} {
		t.Run(want, func(t *testing.T) {
			sim(t, func(k *kit) {
				k.runner.Pause = turn.PauseAfterPrompt
				f := func(t *turn.Turn) error {
					_, err := t.Effect(turn.Effect{ID: "e", Class: turn.Pure}, call)
					var failed *turn.CallError
					if !errors.As(err, &failed) || !strings.Contains(failed.Message, want) {
						k.Errorf("it answers %v", err)
					}
					return t.Reach(agent.PhaseAfterPrompt, "p")
				}
				if _, err := k.runner.Turn(k.Context(), "s", request("r1"), f); err != nil {
					k.Fatal(err)
				}
				if _, err := k.runner.Resume(k.Context(), "s", f); err != nil {
					k.Fatal(err)
				}
			})
		})
	}
}

// Another run cannot make a begun effect repeatable by another class.
func TestAnEffectKeepsTheClassOfItsIntent(t *testing.T) {
	sim(t, func(k *kit) {
		calls := map[string]int{}
		crash(k, turn.UnsafeOnce, calls)
		_, err := k.runner.Recover(k.Context(), "s", func(t *turn.Turn) error {
			if _, err := t.Effect(turn.Effect{ID: "before", Class: turn.UnsafeOnce}, count(calls, `1`)); err != nil {
				return err
			}
			_, err := t.Effect(turn.Effect{ID: "e", Name: "send", Class: turn.Pure, Input: agent.JSON(`{"to":"ada"}`)}, count(calls, `1`))
			return err
		})
		var incomplete *turn.IncompleteError
		if !errors.As(err, &incomplete) || calls[incomplete.Key] != 1 {
			k.Errorf("%v, %v", err, calls)
		}
	})
}

// An id names one effect: it cannot be used again while its call is in progress, also when it is called
// again after a crash. A denied effect is over, and may be asked for again.
func TestAnIDNamesOneEffect(t *testing.T) {
	twice := func(k *kit, t *turn.Turn, e turn.Effect) error {
		_, err := t.Effect(e, func(context.Context, turn.Call) (agent.JSON, error) {
			if _, err := t.Effect(e, nil); !errors.Is(err, agent.ErrInvalid) || !strings.Contains(err.Error(), "in progress") {
				k.Errorf("the same id during its call: %v", err)
			}
			return nil, nil
		})
		if err != nil {
			return err
		}
		_, err = t.Effect(e, nil) // answers with the result
		return err
	}
	e := turn.Effect{ID: "e", Name: "send", Class: turn.Idempotent, Input: agent.JSON(`{"to":"ada"}`)}
	t.Run("in its first run", func(t *testing.T) {
		sim(t, func(k *kit) {
			if _, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error { return twice(k, t, e) }); err != nil {
				k.Error(err)
			}
		})
	})
	t.Run("after a crash", func(t *testing.T) {
		sim(t, func(k *kit) {
			crash(k, turn.Idempotent, map[string]int{})
			if _, err := k.runner.Recover(k.Context(), "s", func(t *turn.Turn) error { return twice(k, t, e) }); err != nil {
				k.Error(err)
			}
		})
	})
	t.Run("after a denial", func(t *testing.T) {
		sim(t, func(k *kit) {
			denied := e
			denied.Review = &agent.ReviewDraft{}
			var last error
			f := func(t *turn.Turn) error {
				for range 2 {
					if _, last = t.Effect(denied, nil); errors.Is(last, turn.ErrPaused) {
						return last
					}
				}
				return nil
			}
			if _, err := k.runner.Turn(k.Context(), "s", request("r1"), f); err != nil {
				k.Fatal(err)
			}
			k.commit(&agent.DecideReview{Review: find[*agent.ReviewList](k, &agent.ListReviews{}).Items[0].ID, Decision: agent.DecideDeny, By: "eve"})
			_, err := k.runner.Resume(k.Context(), "s", f)
			if over := new(turn.DeniedError); err != nil || !errors.As(last, &over) {
				k.Errorf("%v; the second time it answers %v", err, last)
			}
		})
	})
}

// The other side detects repeats by keys: they differ between turns, and between sessions of one name.
func TestKeysDifferBetweenTurns(t *testing.T) {
	sim(t, func(k *kit) {
		calls := map[string]int{}
		for n, id := range []string{"r1", "r2", "r1"} {
			if n == 2 {
				k.commit(&agent.DeleteSession{Session: "s"}, &agent.PutSession{Session: "s", Agent: "a"})
			}
			if _, err := k.runner.Turn(k.Context(), "s", request(id), func(t *turn.Turn) error {
				_, err := t.Effect(turn.Effect{ID: "e", Class: turn.UnsafeOnce}, count(calls, `1`))
				return err
			}); err != nil {
				k.Fatal(err)
			}
		}
		if len(calls) != 3 {
			k.Errorf("the keys of three calls: %v", calls)
		}
	})
}
