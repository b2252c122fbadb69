package turn_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/turn"
)

// A turn that needs a review waits for it, and follows the decision.
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
