package rest_test

import "testing"

func TestAReplayTellsASessionInOrder(t *testing.T) {
	k := newKit(t)
	k.call("PUT", "/v1/sessions/s", `{"agent_id":"a","thread":"t","metadata":{"n":1.0}}`).ok(201)
	k.call("POST", "/v1/sessions/s/claim", `{"owner_id":"w","request":{"id":"r","input":"hi"}}`).ok(200)
	k.call("POST", "/v1/threads/t/entries", `{"entries":[
		{"kind":"message","payload":{"role":"user","content":"hi"},"refs":{"request_id":"r"}},
		{"kind":"note","refs":{"session_id":"another"}}]}`).ok(201)
	got := k.call("GET", "/v1/sessions/s/replay", "")
	members := got.ok(200)
	got.want(members, map[string]any{"session_id": "s", "agent_id": "a", "status": "running", "thread": "t", "revision": 2.0})
	timeline := members["timeline"].([]any)
	for i, want := range []map[string]any{
		{"what": "created", "at": float64(fakeEpoch + 1)},
		{"what": "request", "id": "r", "by": "w", "data": "hi"},
		{"what": "lease", "by": "w", "request_id": "r"},
		{"what": "entry", "seq": 0.0, "event": "message", "request_id": "r"},
	} {
		got.want(timeline[i].(map[string]any), want)
	}
	if len(timeline) != 4 || got.Header().Get("ETag") != `"2"` {
		t.Errorf("ETag %s of %s", got.Header().Get("ETag"), got.Body)
	}
	got = k.call("GET", "/v1/sessions/s/replay?tail=1", "")
	got.want(got.ok(200), map[string]any{"from_seq": 1.0})
	k.call("GET", "/v1/sessions/none/replay", "").problem(404, "not_found")
	k.call("GET", "/v1/sessions/s/replay?tail=x", "").problem(400, "invalid")
}
