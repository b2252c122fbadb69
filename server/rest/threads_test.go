package rest_test

import (
	"strings"
	"testing"
	"time"
)

func TestAThreadGetsAGeneratedID(t *testing.T) {
	k := newKit(t)
	got := k.call("POST", "/v1/threads", `{"metadata":{"m":1},"entries":{"kind":"message"}}`)
	members := got.ok(201)
	id := members["id"].(string)
	if !strings.HasPrefix(id, "thread_") || got.Header().Get("Location") != "/v1/threads/"+id || got.Header().Get("ETag") != `"1"` {
		t.Errorf("id %s, headers %v", id, got.Header())
	}
	other := k.call("POST", "/v1/threads", "")
	if other.ok(201)["id"] == id {
		t.Error("two threads have one id")
	}
	// A key that is reused after its window must not append to the thread it created.
	first := k.call("POST", "/v1/threads", `{"entries":{}}`, "Idempotency-Key: k").ok(201)
	k.fake.Pass(24 * time.Hour)
	got = k.call("POST", "/v1/threads", `{"entries":{}}`, "Idempotency-Key: k")
	got.want(got.problem(409, "conflict"), map[string]any{"rev": 1.0})
	if elsewhere := k.call("POST", "/v1/threads", `{"entries":{}}`, "Idempotency-Key: k", "Dormouse-Scope: other").ok(201); elsewhere["id"] == first["id"] {
		t.Error("two scopes have one id")
	}
}

func TestAppendsCheckTheRevAndSayWhereEntriesWent(t *testing.T) {
	k := newKit(t)
	got := k.call("POST", "/v1/threads/t/entries", `{"entries":[{"id":"a","at":5},{"kind":"message"}],"expected_rev":0,"metadata":{"m":1}}`)
	members := got.ok(201)
	got.want(members, map[string]any{"id": "t", "rev": 2.0, "created_at": float64(fakeEpoch + 1), "updated_at": float64(fakeEpoch + 1)})
	if got.Header().Get("Location") != "/v1/threads/t" {
		t.Errorf("Location is %q", got.Header().Get("Location"))
	}
	if want := `"entries":[{"id":"a","seq":0,"at":5},{"id":"entry_1_1","seq":1,"at":1700000000001}]`; !strings.Contains(got.Body.String(), want) {
		t.Errorf("the stamps are not %s: %s", want, got.Body)
	}
	if head := members["head"].(string); len(head) != 64 {
		t.Errorf("the head is %q", head)
	}
	got = k.call("POST", "/v1/threads/t/entries", `{"entries":{},"expected_rev":0}`)
	got.want(got.problem(409, "conflict"), map[string]any{"rev": 2.0, "head": members["head"]})
	k.call("POST", "/v1/threads/t/entries", `{"entries":{},"expected_rev":2}`).ok(200)
	k.call("POST", "/v1/threads/empty/entries", `{"metadata":{"m":1}}`).ok(201)
	got = k.call("GET", "/v1/threads/empty", "")
	got.want(got.ok(200), map[string]any{"rev": 0.0, "head": strings.Repeat("0", 64)})
}

func TestAThreadsMetaIsWhole(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/threads/t/entries", `{"entries":[{},{}],"metadata":{"m":1}}`).ok(201)
	got := k.call("GET", "/v1/threads/t", "")
	members := got.ok(200)
	for _, name := range []string{"id", "incarnation", "rev", "head", "floor", "created_at", "updated_at", "metadata", "stats"} {
		if members[name] == nil {
			t.Errorf("there is no %s: %s", name, got.Body)
		}
	}
	if members["stats"].(map[string]any)["entry_count"] != 2.0 || got.Header().Get("ETag") != `"2"` {
		t.Errorf("it is %s, ETag %s", got.Body, got.Header().Get("ETag"))
	}
	if _, ok := members["forked_from"]; ok {
		t.Errorf("it was forked: %s", got.Body)
	}
	verified := k.call("GET", "/v1/threads/t/verify", "")
	verified.want(verified.ok(200), map[string]any{"ok": true, "rev": 2.0, "head": members["head"]})
	k.call("GET", "/v1/threads/none", "").problem(404, "not_found")
	k.call("DELETE", "/v1/threads/t?seal_ms=1000", "").ok(204)
	k.call("DELETE", "/v1/threads/t", "").ok(204)
}

func TestAForkIsANewThread(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/threads/t/entries", `{"entries":[{},{}]}`).ok(201)
	got := k.call("POST", "/v1/threads/t/fork", `{"id":"u/1","at_rev":2}`)
	members := got.ok(201)
	if got.Header().Get("Location") != "/v1/threads/u%2F1" || members["id"] != "u/1" {
		t.Errorf("Location %s: %s", got.Header().Get("Location"), got.Body)
	}
	if from := members["forked_from"].(map[string]any); from["id"] != "t" || from["rev"] != 2.0 {
		t.Errorf("forked from %v", from)
	}
	k.call("POST", "/v1/threads/t/fork", `{"id":"u/1"}`).problem(409, "already_exists")
	k.call("POST", "/v1/threads/none/fork", `{"id":"v"}`).problem(404, "not_found")
	got = k.call("POST", "/v1/threads/t/fork", `{}`)
	got.want(got.problem(400, "invalid"), map[string]any{"field": "id"})
	k.call("POST", "/v1/threads/t/fork", ``).problem(400, "invalid")
}

func TestCompactionKeepsRevAndHead(t *testing.T) {
	k := newKit(t)
	head := k.call("POST", "/v1/threads/t/entries", `{"entries":[{},{},{}]}`).ok(201)["head"]
	got := k.call("POST", "/v1/threads/t/compact", `{"before_seq":2,"summary":{"n":1.0}}`)
	got.want(got.ok(200), map[string]any{"rev": 3.0, "head": head, "floor": 2.0})
	if meta := k.call("GET", "/v1/threads/t", "").Body.String(); !strings.Contains(meta, `"summary":{"n":1.0}`) {
		t.Errorf("the summary is not in %s", meta)
	}
}

// A missing seq means neither "all" nor "nothing": a compaction cannot be undone.
func TestACompactionSaysWhichSeqStays(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/threads/t/entries", `{"entries":[{},{},{}]}`).ok(201)
	for _, body := range []string{`{}`, `{"before_seq":0}`, `{"before_seq":null}`, `{"summary":{"n":1}}`} {
		got := k.call("POST", "/v1/threads/t/compact", body)
		got.want(got.problem(400, "invalid"), map[string]any{"field": "before_seq"})
	}
	got := k.call("GET", "/v1/threads/t", "")
	got.want(got.ok(200), map[string]any{"rev": 3.0, "floor": 0.0})
}

func TestEntriesAreReadByPartAndById(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/threads/t/entries", `{"entries":[{"id":"a","kind":"message"},{"id":"b"},{"id":"c","kind":"error"},{"id":"d"},{"id":"e","kind":"message"}]}`).ok(201)
	for _, c := range []struct {
		query, ids string
		rev        float64
		next       any
	}{
		{"", "a b c d e", 5, nil},
		{"?from=1&to=3", "b c d", 5, nil},
		{"?tail=2", "d e", 5, nil},
		{"?at_rev=3", "a b c", 3, nil},
		{"?at_rev=3&tail=2", "b c", 3, nil},
		{"?kind=message&kind=error", "a c e", 5, nil},
		{"?limit=2", "a b", 5, 2.0},
		{"?limit=2&from=2", "c d", 5, 4.0},
		{"?to=0", "a", 5, nil},
	} {
		got := k.call("GET", "/v1/threads/t/entries"+c.query, "")
		page := got.ok(200)
		var ids []string
		for _, e := range page["items"].([]any) {
			ids = append(ids, e.(map[string]any)["id"].(string))
		}
		if strings.Join(ids, " ") != c.ids || page["next"] != c.next || page["rev"] != c.rev || page["floor"] != 0.0 {
			t.Errorf("%s: %s", c.query, got.Body)
		}
	}
	got := k.call("GET", "/v1/threads/t/entries/c", "")
	got.want(got.ok(200), map[string]any{"id": "c", "seq": 2.0, "kind": "error"})
	k.call("GET", "/v1/threads/t/entries/x", "").problem(404, "not_found")
	k.call("GET", "/v1/threads/t/entries?from=1&tail=1", "").problem(400, "invalid")
	k.call("GET", "/v1/threads/t/entries?limit=10001", "").problem(400, "invalid")
}

// S-10: an entry may be sent as it was read.
func TestACallersSeqIsIgnored(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/threads/t/entries", `{"entries":[{"seq":41,"kind":"message"},{"seq":0}]}`).ok(201)
	k.call("POST", "/v1/commits", `{"ops":[{"op":"append_thread","thread":"t","entries":[{"seq":7}]}]}`).ok(200)
	for i, e := range k.call("GET", "/v1/threads/t/entries", "").ok(200)["items"].([]any) {
		if seq := e.(map[string]any)["seq"]; seq != float64(i) {
			t.Errorf("entry %d has seq %v", i, seq)
		}
	}
	got := k.call("POST", "/v1/threads/t/entries", `{"entries":[{"seq":"1"}]}`)
	got.want(got.problem(400, "invalid"), map[string]any{"field": "entries[0].seq"})
}
