package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/server/rest"
)

func TestIdsArePercentEncodedSegments(t *testing.T) {
	k := newKit(t)
	for path, key := range map[string]string{
		"a%2Fb%2Fc":              "a/b/c",
		"%2F":                    "/",
		"a%20b+c":                "a b+c",
		"%25":                    "%",
		"%C3%BC%F0%9F%98%80":     "ü😀",
		"user:1@x;y=z,w":         "user:1@x;y=z,w",
		"a%3Fb%23c":              "a?b#c",
		"..%2F..":                "../..",
		strings.Repeat("x", 512): strings.Repeat("x", 512),
	} {
		got := k.call("PUT", "/v1/checkpoints/"+path, `{"state":{}}`)
		got.want(got.ok(201), map[string]any{"key": key})
		where := got.Header().Get("Location")
		if strings.Count(where, "/") != 3 {
			t.Errorf("Location of %q is %q", key, where)
		}
		got = k.call("GET", where, "")
		got.want(got.ok(200), map[string]any{"key": key})
	}
	for _, path := range []string{"%2E", "%2E%2E", "a%00b", "%FF"} {
		k.call("PUT", "/v1/checkpoints/"+path, `{"state":{}}`).problem(400, "invalid")
	}
	for _, call := range []string{"PUT /v1/values/%00%2F", "GET /v1/values/%00%2F", "GET /v1/values/%00%2f", "GET /v1/threads/a/entries/%00%2F"} { // it is not the id "/"
		method, path, _ := strings.Cut(call, " ")
		k.call(method, path, `{"bytes":"eA=="}`).problem(400, "invalid")
	}
	k.call("PUT", "/v1/checkpoints/"+strings.Repeat("x", 513), `{"state":{}}`).problem(413, "too_large")
	k.call("POST", "/v1/threads/a%2Fb/entries", `{"entries":{"id":"e/1"}}`).ok(201)
	got := k.call("GET", "/v1/threads/a%2Fb/entries/e%2F1", "")
	got.want(got.ok(200), map[string]any{"id": "e/1"})
}

func TestTheScopeComesFromHeaderOrQuery(t *testing.T) {
	k := newKit(t)
	k.call("PUT", "/v1/checkpoints/a", `{"state":{}}`, "Dormouse-Scope: acme").ok(201)
	k.call("GET", "/v1/checkpoints/a", "").problem(404, "not_found")
	k.call("GET", "/v1/checkpoints/a", "", "Dormouse-Scope: acme").ok(200)
	k.call("GET", "/v1/checkpoints/a?scope=acme", "").ok(200)
	k.call("GET", "/v1/checkpoints/a?scope=acme", "", "Dormouse-Scope: acme").ok(200)
	k.call("HEAD", "/v1/checkpoints/a?scope=acme", "").ok(200)
	got := k.call("GET", "/v1/checkpoints/a?scope=acme", "", "Dormouse-Scope: other")
	got.want(got.problem(400, "invalid"), map[string]any{"field": "scope"})
	got = k.call("DELETE", "/v1/checkpoints/a?scope=acme", "")
	got.want(got.problem(400, "invalid"), map[string]any{"field": "scope"})
	k.call("GET", "/v1/checkpoints/a", "", "Dormouse-Scope: a", "Dormouse-Scope: b").problem(400, "invalid")
	k.call("GET", "/v1/checkpoints/a", "", "Dormouse-Scope: ..").problem(400, "invalid")
}

func TestAFenceIsAStructuredField(t *testing.T) {
	k := newKit(t)
	for text, want := range map[string]agent.Fence{
		`claim="session:s1";epoch=7`:           {Claim: "session:s1", Epoch: 7},
		`claim="session:s1"; epoch=7`:          {Claim: "session:s1", Epoch: 7},
		`claim="a \"b\" \\c";epoch=1`:          {Claim: `a "b" \c`, Epoch: 1},
		`claim="a;epoch=1";epoch=2`:            {Claim: "a;epoch=1", Epoch: 2},
		`claim=%"f%c3%bcr+alle";epoch=3`:       {Claim: "für+alle", Epoch: 3},
		`claim="x";epoch=18446744073709551615`: {Claim: "x", Epoch: 1<<64 - 1},
	} {
		k.call("DELETE", "/v1/checkpoints/a", "", "Dormouse-Fence: "+text).ok(204)
		if got := k.fake.lastCommit.Fence; got == nil || *got != want {
			t.Errorf("%s is %+v, want %+v", text, got, want)
		}
	}
	for _, text := range []string{
		`session:s1`, `claim=session;epoch=7`, `claim="s"`, `claim="s";epoch=`, `claim="s";epoch=-1`, `claim="s";epoch=x`,
		`claim="s;epoch=7`, `claim="";epoch=7`, `claim="s" epoch=7`, `claim="s\x";epoch=7`, `claim="s\`, `claim="ü";epoch=1`,
		`claim=%"%ff";epoch=1`, `claim=%"%zz";epoch=1`, `claim="s";epoch=7;x=1`, `claim="s";epoch=7, claim="t";epoch=8`,
		`claim="s";epoch=18446744073709551616`, `epoch=7;claim="s"`,
	} {
		got := k.call("DELETE", "/v1/checkpoints/a", "", "Dormouse-Fence: "+text)
		got.want(got.problem(400, "invalid"), map[string]any{"field": "Dormouse-Fence"})
	}
	k.call("DELETE", "/v1/checkpoints/a", "", `Dormouse-Fence: claim="s";epoch=0`).problem(400, "invalid")
}

func TestConditionsInHeadersAreIfRevision(t *testing.T) {
	k := newKit(t)
	put := func(headers ...string) answer { return k.call("PUT", "/v1/checkpoints/a", `{"state":{}}`, headers...) }
	got := put("If-None-Match: *")
	got.ok(201)
	if got.Header().Get("ETag") != `"1"` || got.Header().Get("Location") != "/v1/checkpoints/a" {
		t.Errorf("ETag %s, Location %s", got.Header().Get("ETag"), got.Header().Get("Location"))
	}
	got = put("If-None-Match: *")
	got.want(got.problem(409, "revision_mismatch"), map[string]any{"revision": 1.0})
	if got.Header().Get("ETag") != "" || got.Header().Get("Location") != "" {
		t.Errorf("a problem has ETag %s, Location %s", got.Header().Get("ETag"), got.Header().Get("Location"))
	}
	got = put(`If-Match: "1"`)
	got.ok(200)
	if got.Header().Get("ETag") != `"2"` || got.Header().Get("Location") != "" {
		t.Errorf("ETag %s, Location %s", got.Header().Get("ETag"), got.Header().Get("Location"))
	}
	put(`If-Match: "1"`).problem(409, "revision_mismatch")

	for _, bad := range []string{"If-Match: 1", `If-Match: W/"1"`, `If-Match: "1", "2"`, `If-Match: "x"`, "If-Match: *", `If-None-Match: "1"`} {
		put(bad).problem(400, "invalid")
	}
	put(`If-Match: "1"`, "If-None-Match: *").problem(400, "invalid")
	put(`If-Match: "1"`, `If-Match: "2"`).problem(400, "invalid")

	// A condition in the headers and one in the body or the query must agree.
	got = k.call("PUT", "/v1/checkpoints/a", `{"state":{},"if_revision":1}`, `If-Match: "2"`)
	got.want(got.problem(400, "invalid"), map[string]any{"field": "if_revision"})
	k.call("PUT", "/v1/checkpoints/a", `{"state":{},"if_revision":2}`, `If-Match: "2"`).ok(200)
	k.call("PATCH", "/v1/checkpoints/a?if_revision=2", `{}`, `If-Match: "3"`).problem(400, "invalid")
	k.call("PATCH", "/v1/checkpoints/a?if_revision=3", `{}`, `If-Match: "3"`).ok(200)
	k.call("PATCH", "/v1/checkpoints/a", `{}`, `If-Match: *`).ok(200)
	k.call("PATCH", "/v1/checkpoints/missing", `{}`, `If-Match: *`).problem(404, "not_found")
	k.call("PATCH", "/v1/checkpoints/missing?upsert=true", `{}`, `If-Match: *`).problem(400, "invalid")
	k.call("PATCH", "/v1/checkpoints/missing?upsert=false", `{}`, `If-Match: *`).problem(404, "not_found")
	k.call("PATCH", "/v1/checkpoints/missing/cron", `{"j":{"cron_expression":"* * * * *","message":{}}}`, `If-Match: *`).problem(400, "invalid")
	k.call("PATCH", "/v1/managers/m/instances/i/cron", `{"j":{"cron_expression":"* * * * *","message":{}}}`, `If-Match: *`).problem(400, "invalid")
	k.call("DELETE", "/v1/checkpoints/a?if_revision=4", "", `If-Match: "5"`).problem(400, "invalid")

	// For a thread it is the rev.
	k.call("POST", "/v1/threads/t/entries", `{"entries":{}}`, "If-None-Match: *").ok(201)
	got = k.call("POST", "/v1/threads/t/entries", `{"entries":{}}`, "If-None-Match: *")
	got.want(got.problem(409, "conflict"), map[string]any{"rev": 1.0})
	got = k.call("POST", "/v1/threads/t/entries", `{"entries":{}}`, `If-Match: "1"`)
	got.ok(200)
	if got.Header().Get("ETag") != `"2"` {
		t.Errorf("the ETag is %s", got.Header().Get("ETag"))
	}
	k.call("POST", "/v1/threads/t/entries", `{"entries":{},"expected_rev":1}`, `If-Match: "2"`).problem(400, "invalid")

	// A condition that cannot be checked is refused, not ignored.
	for _, call := range []string{"DELETE /v1/threads/t", "POST /v1/threads", "POST /v1/threads/t/fork", "POST /v1/commits", "DELETE /v1/scopes/s"} {
		method, path, _ := strings.Cut(call, " ")
		got := k.call(method, path, "", `If-Match: "1"`)
		got.want(got.problem(400, "invalid"), map[string]any{"field": "If-Match"})
	}
}

func TestAnIdempotencyKeyAppliesOnceAndAnswersTheSame(t *testing.T) {
	k := newKit(t)
	for _, c := range []struct{ call, body string }{
		{"PUT /v1/checkpoints/a", `{"state":{"n":1}}`},
		{"PATCH /v1/checkpoints/a", `{"n":2}`},
		{"POST /v1/threads/t/entries", `{"entries":[{"payload":{"a":1}}]}`},
		{"POST /v1/threads", `{"entries":[{}]}`},
		{"POST /v1/threads/t/fork", `{"id":"u"}`},
		{"POST /v1/agents/a/hibernate", `{"state":{},"thread":{"id":"t","from_seq":1,"entries":[{}]}}`},
		{"POST /v1/commits", `{"ops":[{"op":"put_value","key":"v","bytes":"AAE="}]}`},
		{"PUT /v1/values/v", `1`},
		{"DELETE /v1/values/v", ``},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		key := "Idempotency-Key: key of " + c.call
		first := k.call(method, path, c.body, key)
		if first.Code >= 300 {
			t.Fatalf("%s: %d %s", c.call, first.Code, first.Body)
		}
		index := k.fake.Index()
		again := k.call(method, path, c.body, key)
		if again.Code != first.Code || again.Body.String() != first.Body.String() || again.Header().Get("Location") != first.Header().Get("Location") {
			t.Errorf("%s: first %d %s\nagain %d %s", c.call, first.Code, first.Body, again.Code, again.Body)
		}
		if k.fake.Index() != index {
			t.Errorf("%s applied twice", c.call)
		}
		r := k.fake.lastCommit.Request
		if want := "idem/key of " + c.call; r.Client != want || r.Seq != 1 || r.TTL.Hours() != 24 {
			t.Errorf("%s was sent as %+v", c.call, r)
		}
	}
	k.call("PUT", "/v1/checkpoints/b", `{"state":{"n":1}}`, "Idempotency-Key: k").ok(201)
	k.call("PUT", "/v1/checkpoints/b", `{"state":{"n":2}}`, "Idempotency-Key: k").problem(422, "idempotency_mismatch")
	k.call("PUT", "/v1/checkpoints/b", `{"state":{"n":2}}`, "Idempotency-Key: k", "Dormouse-Scope: other").ok(201)
	k.call("PUT", "/v1/checkpoints/b", `{"state":{}}`, "Idempotency-Key: "+strings.Repeat("k", 507)).ok(200)
	for _, bad := range []string{strings.Repeat("k", 508), "a\xff"} {
		got := k.call("PUT", "/v1/checkpoints/b", `{"state":{}}`, "Idempotency-Key: "+bad)
		got.want(got.problem(400, "invalid"), map[string]any{"field": "Idempotency-Key"})
	}
}

func TestARefusalIsRememberedUnderItsKeyToo(t *testing.T) {
	k := newKit(t)
	k.call("PUT", "/v1/checkpoints/a", `{"state":{},"if_revision":7}`, "Idempotency-Key: k").problem(409, "revision_mismatch")
	index := k.fake.Index()
	k.call("PUT", "/v1/checkpoints/a", `{"state":{},"if_revision":7}`, "Idempotency-Key: k").problem(409, "revision_mismatch")
	if k.fake.Index() != index {
		t.Error("it was tried again")
	}
}

func TestEveryAnswerSaysNodeAndIndex(t *testing.T) {
	k := newKit(t)
	for i, c := range []struct{ call, body string }{
		{"PUT /v1/checkpoints/a", `{"state":{}}`},
		{"GET /v1/checkpoints/a", ""},
		{"GET /v1/threads", ""},
		{"POST /v1/commits", `{"ops":[{"op":"delete_value","key":"v"}]}`},
		{"POST /v1/reads", `{"reads":[{"read":"get_scope"}]}`},
		{"DELETE /v1/values/v", ""},
		{"GET /v1/values/v", ""},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		got := k.call(method, path, c.body)
		if node, index := got.Header().Get("Dormouse-Node"), got.Header().Get("Dormouse-Index"); node != "n1" || index != fmt.Sprint(k.fake.Index()) {
			t.Errorf("%d. %s: node %q, index %q, want n1, %d", i, c.call, node, index, k.fake.Index())
		}
		if got.Header().Get("Dormouse-Age-Ms") != "" {
			t.Errorf("%s says how old it is", c.call)
		}
	}
	if got := k.call("GET", "/nowhere", ""); got.Header().Get("Dormouse-Node") != "n1" {
		t.Error("a problem does not say its node")
	}
}

// An answer without its own index has the index that the node has applied.
func TestAProblemSaysWhatTheNodeHadApplied(t *testing.T) {
	k := newKitWith(t, rest.Options{Applied: func() uint64 { return 42 }})
	for _, c := range []struct{ call, body string }{
		{"GET /nowhere", ""},
		{"PUT /v1/checkpoints/a", `{"state":7}`},
		{"PUT /v1/checkpoints/a", `{"state":{},"if_revision":9}`},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		if index := k.call(method, path, c.body).Header().Get("Dormouse-Index"); index != "42" {
			t.Errorf("%s: index %q, want 42", c.call, index)
		}
	}
}

func TestAStaleReadSaysHowOldItIs(t *testing.T) {
	k := newKit(t)
	got := k.call("GET", "/v1/threads?stale=true&min_index=0", "")
	got.ok(200)
	if got.Header().Get("Dormouse-Age-Ms") != "12" || !k.fake.lastReads.Stale {
		t.Errorf("age %q, stale %v", got.Header().Get("Dormouse-Age-Ms"), k.fake.lastReads.Stale)
	}
	k.call("GET", "/v1/threads?min_index=41", "").ok(200)
	if k.fake.lastReads.MinIndex != 41 || k.fake.lastReads.Stale {
		t.Errorf("it asked %+v", k.fake.lastReads)
	}
	k.call("POST", "/v1/reads?stale=true", `{"reads":[{"read":"get_scope"}]}`).ok(200)
	if !k.fake.lastReads.Stale {
		t.Error("reads are not stale")
	}
}

func TestQueriesAreStrict(t *testing.T) {
	k := newKit(t)
	for query, field := range map[string]string{
		"if_revison=1":     "if_revison",
		"stale=maybe":      "stale",
		"min_index=-1":     "min_index",
		"limit=ten":        "limit",
		"limit=1001":       "limit",
		"limit=1&limit=2":  "limit",
		"prefix=%ff":       "prefix",
		"prefix=a%00b":     "prefix",
		"prefix=%zz":       "query",
		"prefix=a;after=b": "query",
		"kind=note":        "kind",
	} {
		got := k.call("GET", "/v1/threads?"+query, "")
		got.want(got.problem(400, "invalid"), map[string]any{"field": field})
	}
	got := k.call("PATCH", "/v1/checkpoints/a?if_revison=1", `{}`)
	got.want(got.problem(400, "invalid"), map[string]any{"field": "if_revison"})
}
