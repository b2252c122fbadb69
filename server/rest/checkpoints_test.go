package rest_test

import (
	"strings"
	"testing"
)

func TestACheckpointIsCreatedChangedReadPatchedAndDeleted(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/threads/t/entries", `{"entries":[{},{}]}`).ok(201)
	got := k.call("PUT", "/v1/checkpoints/a", `{"state":{"n":1,"__thread__":{"x":1}},"version":3,"thread":{"id":"t","rev":2},"lifecycle":"idle","metadata":{"m":1}}`)
	members := got.ok(201)
	got.want(members, map[string]any{"key": "a", "revision": 1.0, "created_at": float64(fakeEpoch + 2), "updated_at": float64(fakeEpoch + 2)})
	head := members["thread"].(map[string]any)["head"].(string)

	got = k.call("GET", "/v1/checkpoints/a", "")
	got.ok(200)
	want := `{"key":"a","incarnation":2,"revision":1,"version":3,"state":{"n":1},"thread":{"id":"t","rev":2,"head":"` + head +
		`","incarnation":1},"lifecycle":"idle","metadata":{"m":1},"created_at":1700000000002,"updated_at":1700000000002}`
	if got.Body.String() != want {
		t.Errorf("it is\n%s\nwant\n%s", got.Body, want)
	}
	if got.Header().Get("ETag") != `"1"` || got.Header().Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", got.Header())
	}

	k.call("PATCH", "/v1/checkpoints/a?if_revision=1", `{"n":null,"m":2.0}`).ok(200)
	k.call("PATCH", "/v1/checkpoints/a?if_revision=1", `{}`).problem(409, "revision_mismatch")
	k.call("PATCH", "/v1/checkpoints/b", `{}`).problem(404, "not_found")
	if got := k.call("GET", "/v1/checkpoints/a", "").Body.String(); !strings.Contains(got, `"state":{"m":2.0}`) {
		t.Errorf("patched, it is %s", got)
	}
	if got := k.call("GET", "/v1/checkpoints/a?revision=1", "").Body.String(); !strings.Contains(got, `"state":{"n":1}`) {
		t.Errorf("revision 1 is %s", got)
	}

	got = k.call("DELETE", "/v1/checkpoints/a", "")
	got.ok(204)
	if got.Body.Len() > 0 || got.Header().Get("Content-Type") != "" {
		t.Errorf("a 204 has %q, %v", got.Body, got.Header())
	}
	k.call("DELETE", "/v1/checkpoints/a", "").ok(204)
	k.call("GET", "/v1/checkpoints/a", "").problem(404, "not_found")
}

func TestAPointerThatDanglesIsRefused(t *testing.T) {
	k := newKit(t)
	got := k.call("PUT", "/v1/checkpoints/a", `{"state":{},"thread":{"id":"t","rev":2}}`)
	got.want(got.problem(409, "missing_thread"), map[string]any{"thread": "t"})
	got = k.call("PUT", "/v1/checkpoints/a", `{"state":{},"thread":{"rev":2}}`)
	got.want(got.problem(400, "invalid"), map[string]any{"field": "thread.id"})
}

func TestListsPageInKeyOrder(t *testing.T) {
	k := newKit(t)
	for _, key := range []string{"b/2", "a", "b/1", "b/3", "c"} {
		k.call("PUT", "/v1/checkpoints/"+strings.ReplaceAll(key, "/", "%2F"), `{"state":{}}`).ok(201)
	}
	keys := func(query string) (keys []string, next any) {
		t.Helper()
		page := k.call("GET", "/v1/checkpoints"+query, "").ok(200)
		for _, row := range page["items"].([]any) {
			keys = append(keys, row.(map[string]any)["key"].(string))
		}
		return keys, page["next"]
	}
	for _, c := range []struct {
		query, keys string
		next        any
	}{
		{"", "a b/1 b/2 b/3 c", nil},
		{"?prefix=b/&limit=2", "b/1 b/2", "b/2"},
		{"?prefix=b/&limit=2&after=b/2", "b/3", nil},
		{"?prefix=x", "", nil},
	} {
		got, next := keys(c.query)
		if strings.Join(got, " ") != c.keys || next != c.next {
			t.Errorf("%s: %v, next %v", c.query, got, next)
		}
	}
	if got := k.call("GET", "/v1/values", ""); got.Body.String() != `{"items":[],"next":null}` {
		t.Errorf("an empty list is %s", got.Body)
	}
}

func TestAHistoryPagesFromTheNewest(t *testing.T) {
	k := newKit(t)
	for range 3 {
		k.call("PUT", "/v1/checkpoints/a", `{"state":{}}`)
	}
	revisions := func(query string) (out []float64, next any) {
		t.Helper()
		page := k.call("GET", "/v1/checkpoints/a/history"+query, "").ok(200)
		for _, row := range page["items"].([]any) {
			out = append(out, row.(map[string]any)["revision"].(float64))
		}
		return out, page["next"]
	}
	if got, next := revisions(""); len(got) != 3 || got[0] != 3 || next != nil {
		t.Errorf("all: %v, %v", got, next)
	}
	got, next := revisions("?limit=2")
	if len(got) != 2 || got[1] != 2 || next != "2" {
		t.Fatalf("the first page: %v, %v", got, next)
	}
	if got, next := revisions("?limit=2&after=2"); len(got) != 1 || got[0] != 1 || next != nil {
		t.Errorf("the last page: %v, %v", got, next)
	}
	got2 := k.call("GET", "/v1/checkpoints/a/history?after=x", "")
	got2.want(got2.problem(400, "invalid"), map[string]any{"field": "after"})
	k.call("GET", "/v1/checkpoints/a/history?limit=1001", "").problem(400, "invalid")
}
