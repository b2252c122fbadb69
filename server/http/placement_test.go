package rest_test

import "testing"

func TestPlacementOfAKeyIsExplained(t *testing.T) {
	k := newKit(t)
	got := k.call("GET", "/v1/placement/chat/user-1", "")
	got.want(got.ok(200), map[string]any{"partition": 42.0, "owner": "n1", "epoch": 9.0, "state": "owned", "why": "user-1"})
	if got.Header().Get("Dormouse-Index") != "7" {
		t.Errorf("index %s", got.Header().Get("Dormouse-Index"))
	}
	if got := k.call("GET", "/v1/placement/chat/user-1?with=n4&without=n1", ""); got.Code < 400 || got.Code > 499 {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}
