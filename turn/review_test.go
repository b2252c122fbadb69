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

// A turn that needs a review waits for it, and follows the decision.
// A reviewer sees an input that is no object as the member of one. The capability gets the edited input in
// the form of the original.
func TestAnEditOfAnInputKeepsItsForm(t *testing.T) {
	for name, c := range map[string]struct{ input, shown, decided, want string }{
		"a string":               {`"rm x"`, `{"input":"rm x"}`, `{"input":"ls"}`, `"ls"`},
		"no input":               {`null`, `{"input":null}`, `{"input":[1]}`, `[1]`},
		"an object":              {`{"input":"rm x"}`, `{"input":"rm x"}`, `{"input":"ls"}`, `{"input":"ls"}`},
		"a string to an object":  {`"rm x"`, `{"input":"rm x"}`, `{"input":"ls","in":"/"}`, `{"input":"ls","in":"/"}`},
		"a string to no members": {`"rm x"`, `{"input":"rm x"}`, `{}`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			sim(t, func(k *kit) {
				var got string
				f := func(t *turn.Turn) error {
					_, err := t.Effect(turn.Effect{ID: "e", Name: "run", Class: turn.UnsafeOnce, Input: agent.JSON(c.input), Review: &agent.ReviewDraft{ID: "v"}},
						func(_ context.Context, call turn.Call) (agent.JSON, error) { got = string(call.Input); return nil, nil })
					return err
				}
				if row, err := k.runner.Turn(k.Context(), "s", request("r1"), f); err != nil || row.Status != agent.SessionWaiting {
					k.Fatalf("%+v, %v", row, err)
				}
				if shown := find[*agent.Review](k, &agent.GetReview{Review: "v"}).Arguments; string(shown) != c.shown {
					k.Errorf("the reviewer sees %s", shown)
				}
				k.commit(&agent.DecideReview{Review: "v", Decision: agent.DecideEdit, By: "eve", Arguments: agent.JSON(c.decided)})
				if _, err := k.runner.Resume(k.Context(), "s", f); err != nil || got != c.want {
					k.Errorf("called with %s, %v", got, err)
				}
			})
		})
	}
}

func TestAReviewedEffect(t *testing.T) {
	cases := map[string]struct {
		decide *agent.DecideReview // nil lets it expire
		input  string              // of the capability's call; "" for no call
		code   string              // of the failure
	}{
		"approved": {&agent.DecideReview{Decision: agent.DecideApprove, By: "eve"}, `{"amount":5}`, ""},
		"edited":   {&agent.DecideReview{Decision: agent.DecideEdit, By: "eve", Arguments: agent.JSON(`{"amount":3}`)}, `{"amount":3}`, ""},
		"denied":   {&agent.DecideReview{Decision: agent.DecideDeny, By: "eve", Note: "too much"}, "", "approval_denied"},
		"expired":  {nil, "", "approval_expired"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			sim(t, func(k *kit) {
				var inputs []string
				f := func(t *turn.Turn) error {
					_, err := t.Effect(turn.Effect{
						ID: "refund", Name: "refund", Class: turn.UnsafeOnce, Input: agent.JSON(`{"amount":5}`),
						Review: &agent.ReviewDraft{Reason: "money", TTL: time.Minute},
					}, func(_ context.Context, c turn.Call) (agent.JSON, error) {
						inputs = append(inputs, string(c.Input))
						return nil, nil
					})
					return err
				}
				row, err := k.runner.Turn(k.Context(), "s", request("r1"), f)
				if err != nil || row.Status != agent.SessionWaiting {
					k.Fatalf("%+v, %v", row, err)
				}
				// Resumed without a decision, it waits for the same review.
				if row, err = k.runner.Resume(k.Context(), "s", f); err != nil || row.Status != agent.SessionWaiting {
					k.Fatalf("resumed: %+v, %v", row, err)
				}
				pending := find[*agent.ReviewList](k, &agent.ListReviews{}).Items
				if len(pending) != 1 || pending[0].Operation != "refund" || string(pending[0].Arguments) != `{"amount":5}` || len(inputs) != 0 {
					k.Fatalf("pending: %+v; called with %v", pending, inputs)
				}
				if c.decide == nil {
					time.Sleep(2 * time.Minute)
				} else {
					c.decide.Review = pending[0].ID
					k.commit(c.decide)
				}
				row, err = k.runner.Resume(k.Context(), "s", f)
				if c.input != "" {
					if err != nil || row.Status != agent.SessionFinished || !slices.Equal(inputs, []string{c.input}) {
						k.Errorf("%+v, %v; called with %v", row, err, inputs)
					}
					return
				}
				var denied *turn.DeniedError
				if !errors.As(err, &denied) || len(inputs) != 0 {
					k.Errorf("%v; called with %v", err, inputs)
				}
				if s := k.expectStatus(agent.SessionFailed); failureCode(k, s) != c.code {
					k.Errorf("its failure: %s", s.Failure)
				}
			})
		})
	}
}

// A decision about one request does not approve the effect of another one, whichever id the caller chooses.
func TestAReviewOfAnotherRequestDecidesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		draft  agent.ReviewDraft
		decide agent.DecideReview
	}{
		"id, approved":        {agent.ReviewDraft{ID: "refund"}, agent.DecideReview{Decision: agent.DecideApprove}},
		"id, edited":          {agent.ReviewDraft{ID: "refund"}, agent.DecideReview{Decision: agent.DecideEdit, Arguments: agent.JSON(`{"amount":3}`)}},
		"interrupt, approved": {agent.ReviewDraft{InterruptID: "refund"}, agent.DecideReview{Decision: agent.DecideApprove}},
		"no id":               {agent.ReviewDraft{}, agent.DecideReview{Decision: agent.DecideApprove}},
	} {
		t.Run(name, func(t *testing.T) {
			sim(t, func(k *kit) {
				calls := 0
				f := func(amount string) func(*turn.Turn) error {
					return func(t *turn.Turn) error {
						_, err := t.Effect(turn.Effect{ID: "e", Name: "refund", Class: turn.UnsafeOnce, Input: agent.JSON(amount), Review: &c.draft},
							func(context.Context, turn.Call) (agent.JSON, error) { calls++; return nil, nil })
						return err
					}
				}
				if row, err := k.runner.Turn(k.Context(), "s", request("r1"), f(`{"amount":5}`)); err != nil || row.Status != agent.SessionWaiting {
					k.Fatalf("%+v, %v", row, err)
				}
				c.decide.Review, c.decide.By = find[*agent.ReviewList](k, &agent.ListReviews{}).Items[0].ID, "eve"
				k.commit(&c.decide)
				if _, err := k.runner.Resume(k.Context(), "s", f(`{"amount":5}`)); err != nil || calls != 1 {
					k.Fatalf("%d calls, %v", calls, err)
				}
				row, err := k.runner.Turn(k.Context(), "s", request("r2"), f(`{"amount":500}`))
				if calls != 1 {
					k.Fatal("the second request was called without a decision")
				}
				if name == "no id" {
					if err != nil || row.Status != agent.SessionWaiting {
						k.Errorf("%+v, %v", row, err)
					}
				} else if agent.CodeOf(err) != agent.CodeInvalid || !strings.Contains(err.Error(), "an id of its own") {
					k.Errorf("%v", err)
				}
			})
		})
	}
}
