package rest_test

import (
	"fmt"
	"reflect"
	"testing"

	"dormouse/agent"
)

func TestAReviewIsDecidedOnce(t *testing.T) {
	k := newKit(t)
	body := fmt.Sprintf(`{"lease_id":%q,"owner_id":"w","session":{"status":"waiting","snapshots":[{"id":"n","cursor":{"phase":"wait"}}]},"reviews":[
		{"interrupt_id":"i","operation":"rm","arguments":{"f":1.0},"assignee":"ann","ttl_ms":60000}]}`, k.claimed())
	k.call("POST", "/v1/sessions/s/commit", body).ok(200)
	got := k.call("GET", "/v1/reviews/review%3Ai", "")
	got.want(got.ok(200), map[string]any{
		"id": "review:i", "session_id": "s", "request_id": "r", "operation": "rm", "assignee": "ann", "status": "pending",
		"expires_at": float64(fakeEpoch + 60003), "escalated": false, "decided_by": nil,
	})
	got = k.call("POST", "/v1/reviews/review:i/decide", `{"decision":"edit","by":"bob","arguments":{"f":2.0},"note":"n","interrupt_id":"i"}`)
	got.want(got.ok(200), map[string]any{"status": "edited", "decided_by": "bob", "note": "n", "decided_at": float64(fakeEpoch + 4)})
	want := &agent.DecideReview{Review: "review:i", Decision: agent.DecideEdit, By: "bob", Arguments: agent.JSON(`{"f":2.0}`), Note: "n", InterruptID: "i"}
	if got := k.fake.lastCommit.Ops[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("it decided %+v", got)
	}
	got = k.call("POST", "/v1/reviews/review:i/decide", `{"decision":"deny","by":"eve"}`)
	got.want(got.problem(409, "review_already_decided"), map[string]any{"holder": "bob", "state": "edited"})
	k.call("POST", "/v1/reviews/none/decide", `{"decision":"deny","by":"eve"}`).problem(404, "not_found")
}

func TestReviewsAreListedByWhatTheQuerySays(t *testing.T) {
	k := newKit(t)
	for query, want := range map[string]agent.ListReviews{
		"":                                     {},
		"status=pending&before=5&assignee=ann": {Status: agent.ReviewPending, Before: 5, Assignee: "ann"},
		"session=s&after=00ff&limit=3":         {Session: "s", Page: agent.Page{After: "00ff", Limit: 3}},
	} {
		k.call("GET", "/v1/reviews?"+query, "").ok(200)
		if got := k.fake.lastReads.Reads[0]; !reflect.DeepEqual(got, &want) {
			t.Errorf("%s asks for %+v", query, got)
		}
	}
	for query, field := range map[string]string{
		"before=9223372036854775808": "before", "before=-1": "before", "status=open": "status", "session=s&assignee=a": "session", "prefix=a": "prefix",
	} {
		got := k.call("GET", "/v1/reviews?"+query, "")
		got.want(got.problem(400, "invalid"), map[string]any{"field": field})
	}
}

func TestWrongDecisionsNameTheField(t *testing.T) {
	k := newKit(t)
	for body, field := range map[string]string{
		`{"by":"a"}`:                                       "decision",
		`{"decision":"perhaps","by":"a"}`:                  "decision",
		`{"decision":"approve"}`:                           "by",
		`{"decision":"edit","by":"a"}`:                     "arguments",
		`{"decision":"approve","by":"a","arguments":{}}`:   "arguments",
		`{"decision":"edit","by":"a","arguments":3}`:       "arguments",
		`{"decision":"deny","by":"a","interrupt_id":".."}`: "interrupt_id",
	} {
		got := k.call("POST", "/v1/reviews/q/decide", body)
		got.want(got.problem(400, "invalid"), map[string]any{"field": field})
	}
}
