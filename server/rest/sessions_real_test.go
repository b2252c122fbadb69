package rest_test

import (
	"fmt"
	"strings"
	"testing"
)

// turnsLease returns the lease in an answer, and its fence.
func turnsLease(members map[string]any) (id, fence string) {
	lease := members["lease"].(map[string]any)
	return lease["lease_id"].(string), fmt.Sprintf(`Dormouse-Fence: claim="session:s";epoch=%.0f`, lease["epoch"])
}

// The main flow over a real node: a turn waits for a person, is decided, resumed and finished,
// while the former holder is refused.
func TestASessionsTurnsOverARealNode(t *testing.T) {
	k := newRealKit(t)
	k.call("PUT", "/v1/sessions/s", `{"agent_id":"a","thread":"t"}`).ok(201)
	k.call("PUT", "/v1/sessions/s", `{"agent_id":"a"}`).problem(409, "already_exists")
	first, fence := turnsLease(k.call("POST", "/v1/sessions/s/claim", `{"owner_id":"w1","request":{"id":"r","input":"hi"}}`).ok(200))
	k.call("POST", "/v1/sessions/s/claim", `{"owner_id":"w2","request":{"id":"q"}}`).problem(409, "session_already_running")
	k.call("POST", "/v1/threads/t/entries", `{"entries":[{"id":"x","kind":"note"}]}`, fence).ok(201)
	k.call("POST", "/v1/sessions/s/commit", `{"lease_id":"`+first+`","owner_id":"w1","session":{"status":"waiting",
		"snapshots":[{"snapshot_id":"n","cursor":{"phase":"review"}}]},"reviews":[{"interrupt_id":"i","operation":"rm"}]}`).ok(200)

	k.call("POST", "/v1/threads/t/entries", `{"entries":[{"id":"late","kind":"note"}]}`, fence).problem(409, "fenced")
	got := k.call("GET", "/v1/reviews", "")
	if got.ok(200); !strings.Contains(got.Body.String(), `"id":"review:i"`) {
		t.Errorf("what is pending: %s", got.Body)
	}
	k.call("POST", "/v1/reviews/review:i/decide", `{"decision":"approve","by":"ann"}`).ok(200)
	k.call("POST", "/v1/reviews/review:i/decide", `{"decision":"deny","by":"eve"}`).problem(409, "review_already_decided")
	got = k.call("GET", "/v1/sessions/s", "")
	got.want(got.ok(200), map[string]any{"status": "hibernated", "id": "s"})

	second, _ := turnsLease(k.call("POST", "/v1/sessions/s/claim_resume", `{"owner_id":"w2"}`).ok(200))
	end := `{"lease_id":"%s","owner_id":"%s","session":{"status":"finished","result":"done"}}`
	k.call("POST", "/v1/sessions/s/commit", fmt.Sprintf(end, first, "w1")).problem(409, "stale_session_lease")
	k.call("POST", "/v1/sessions/s/commit", fmt.Sprintf(end, second, "w2")).ok(200)
	got = k.call("GET", "/v1/sessions/s/replay", "")
	if got.ok(200); !strings.Contains(got.Body.String(), `"timeline"`) || !strings.Contains(got.Body.String(), "review:i") {
		t.Errorf("the replay: %s", got.Body)
	}
	k.call("DELETE", "/v1/sessions/s", "").ok(204)
	k.call("GET", "/v1/sessions/s", "").problem(404, "not_found")
}
