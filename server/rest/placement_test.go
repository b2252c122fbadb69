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

func TestPlacementTellsOfSharesAndMoves(t *testing.T) {
	got := newKit(t).call("GET", "/v1/placement", "")
	want := `{"nodes":[{"node":"n1","weight":100,"leased":true,"owned":4000,"draining":1,"coming":0},` +
		`{"node":"n2","weight":100,"leased":true,"owned":0,"draining":0,"coming":0,"drained_at":5}],"free":96,` +
		`"moving":[{"partition":5,"from":"n1","to":"n2","why":"n2 joined"}],"pins":[{"partition":5,"node":"n1","since":6}]}`
	if got.Code != 200 || got.Body.String() != want || got.Header().Get("Dormouse-Index") != "7" {
		t.Errorf("%d %s at %s; want %s", got.Code, got.Body, got.Header().Get("Dormouse-Index"), want)
	}
}
