package rest_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dormouse/agent"
)

func TestAMemoryIsWrittenReadAndDeleted(t *testing.T) {
	k := newKit(t)
	body := `{"content":"tea","data":{"n": 18446744073709551615},"session_id":"s","class":"semantic","kind":"fact","tags":["x"," y "],
		"source":"chat","metadata":{"a":1},"embedding":[0.1,-2],"observed_at":-7,"ttl_ms":5000}`
	got := k.call("PUT", "/v1/memory/a%2Fb/m", body)
	got.want(got.ok(201), map[string]any{"agent_id": "a/b", "id": "m", "revision": 1.0, "created_at": float64(fakeEpoch + 1)})
	if got.Header().Get("Location") != "/v1/memory/a%2Fb/m" || got.Header().Get("ETag") != `"1"` {
		t.Errorf("headers %v", got.Header())
	}
	got = k.call("GET", "/v1/memory/a%2Fb/m", "")
	got.ok(200)
	want := `{"agent_id":"a/b","id":"m","incarnation":1,"revision":1,"session_id":"s","class":"semantic","kind":"fact",` +
		`"content":"tea","data":{"n":18446744073709551615},"tags":["x","y"],"source":"chat","metadata":{"a":1},"embedding":[0.1,-2],` +
		`"observed_at":-7,"created_at":1700000000001,"updated_at":1700000000001,"expires_at":1700000005001}`
	if diff := cmp.Diff(want, strings.TrimSpace(got.Body.String())); diff != "" {
		t.Error(diff)
	}
	got = k.call("PUT", "/v1/memory/a%2Fb/m", `{"content":"coffee"}`, `If-Match: "1"`)
	got.want(got.ok(200), map[string]any{"revision": 2.0})
	k.call("PUT", "/v1/memory/a%2Fb/m", `{"content":"milk"}`, "If-None-Match: *").problem(409, "revision_mismatch")
	k.call("DELETE", "/v1/memory/a%2Fb/m?seal_ms=10", "", `If-Match: "2"`).ok(204)
	op, ok := k.fake.lastCommit.Ops[0].(*agent.DeleteMemory)
	if !ok || op.Seal.Milliseconds() != 10 || op.IfRevision == nil || *op.IfRevision != 2 {
		t.Errorf("deleted with %+v", k.fake.lastCommit.Ops[0])
	}
	k.call("GET", "/v1/memory/a%2Fb/m", "").problem(404, "not_found")
}

func TestAMemoryWithoutAnIDGetsOneFromItsContent(t *testing.T) {
	k := newKit(t)
	first := k.call("POST", "/v1/memory/a", `{"content":"tea"}`).ok(201)
	again := k.call("POST", "/v1/memory/a", `{"content":"tea","class":null,"tags":[]}`).ok(200)
	other := k.call("POST", "/v1/memory/a", `{"content":"coffee"}`).ok(201)
	id, _ := first["id"].(string)
	if !strings.HasPrefix(id, "mem_") || again["id"] != id || other["id"] == id {
		t.Errorf("%v, %v and %v", first, again, other)
	}
	items := k.call("GET", "/v1/memory?agent_id=a&limit=1", "").ok(200)
	if len(items["items"].([]any)) != 1 || items["next"] == nil {
		t.Errorf("a page is %v", items)
	}
}

// score is how well a memory matches, which is not the front's to know.
var score = regexp.MustCompile(`"score":0\.\d+`)

func TestARecallAnswersTheRequestTheItemsAndWhatTheyAreOf(t *testing.T) {
	k := newKit(t)
	for _, content := range []string{"green tea", "coffee", "black tea"} {
		k.call("PUT", "/v1/memory/a/"+content[:2], `{"content":"`+content+`"}`).ok(201)
	}
	got := k.call("POST", "/v1/memory/recall?stale=true", `{"agent_id":"a","mode":"text","query":"tea","limit":1,"kinds":["event"],"since":-1,"metadata":{"t":1}}`)
	got.ok(200)
	want := `{"request":{"agent_id":"a","within":"agent","mode":"text","query":"tea","limit":1,"kinds":["event"],"since":-1,"metadata":{"t":1}},` +
		`"items":[{"agent_id":"a","id":"bl","incarnation":3,"revision":1,"class":"episodic","kind":"event","content":"black tea","tags":[],` +
		`"metadata":{},"observed_at":1700000000003,"created_at":1700000000003,"updated_at":1700000000003,"score":#}],` +
		`"metadata":{"entries":3,"matched":2},"index":3}`
	if diff := cmp.Diff(want, score.ReplaceAllString(strings.TrimSpace(got.Body.String()), `"score":#`)); diff != "" {
		t.Error(diff)
	}
	k.call("POST", "/v1/memory/recall", `{"agent_id":"a","mode":"query","order":"asc","text_contains":"tea"}`).ok(200)
	if asked, ok := k.fake.lastReads.Reads[0].(*agent.Recall); !ok || !asked.Ascending || asked.Filter.Contains != "tea" {
		t.Errorf("asked %+v", k.fake.lastReads.Reads[0])
	}
}

func TestMemoriesInCommitsAndReads(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/commits", `{"ops":[{"op":"write_memory","agent_id":"a","id":"m","content":"x"},{"op":"write_memory","agent_id":"a","data":{}},
		{"op":"delete_memory","agent_id":"a","id":"m","seal_ms":5}]}`).ok(200)
	got := k.call("POST", "/v1/reads", `{"reads":[{"read":"get_memory","agent_id":"a","id":"m"},{"read":"list_memories","agent_id":"a","limit":5},
		{"read":"recall","agent_id":"a","query":"x"}]}`)
	answers := got.ok(200)["answers"].([]any)
	found := func(i int) map[string]any { return answers[i].(map[string]any)["found"].(map[string]any) }
	if answers[0].(map[string]any)["error"] == nil || len(found(1)["items"].([]any)) != 1 || len(found(2)["items"].([]any)) != 1 {
		t.Errorf("answers %s", got.Body)
	}
}

func TestMemoriesOfAllAgentsAreListed(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/commits", `{"ops":[{"op":"write_memory","agent_id":"b","id":"1","content":"x"},{"op":"write_memory","agent_id":"a","id":"2","content":"y"}]}`).ok(200)
	const want = "b1 a2"
	listed := func(found map[string]any) string {
		var all []string
		for _, item := range found["items"].([]any) {
			m := item.(map[string]any)
			all = append(all, m["agent_id"].(string)+m["id"].(string))
		}
		return strings.Join(all, " ")
	}
	if got := listed(k.call("GET", "/v1/memory", "").ok(200)); got != want {
		t.Errorf("GET lists %q, want %q", got, want)
	}
	answers := k.call("POST", "/v1/reads", `{"reads":[{"read":"list_memories"}]}`).ok(200)["answers"].([]any)
	if got := listed(answers[0].(map[string]any)["found"].(map[string]any)); got != want {
		t.Errorf("a read lists %q, want %q", got, want)
	}
}

func TestWrongMemoriesAndRecallsNameTheField(t *testing.T) {
	k := newKit(t)
	for _, c := range []struct{ call, body, field string }{
		{"PUT /v1/memory/a/m", `{}`, "content"},
		{"PUT /v1/memory/a/m", `{"content":"x","class":"short"}`, "class"},
		{"PUT /v1/memory/a/m", `{"content":"x","embedding":[0]}`, "embedding"},
		{"PUT /v1/memory/a/m", `{"content":"x","expires_at":1,"ttl_ms":1}`, "ttl_ms"},
		{"PUT /v1/memory/a/m", `{"content":"x","ttl_ms":18446744073709551615}`, "ttl_ms"},
		{"POST /v1/memory/a", `{"content":"x","data":[]}`, "data"},
		{"POST /v1/memory/recall", `{"query":"x"}`, "agent_id"},
		{"POST /v1/memory/recall", `{"agent_id":"a"}`, "query"},
		{"POST /v1/memory/recall", `{"agent_id":"a","query":"x","limit":-1}`, "limit"},
		{"POST /v1/memory/recall", `{"agent_id":"a","mode":"vector"}`, "embedding"},
		{"POST /v1/memory/recall", `{"agent_id":"a","mode":"best","query":"x"}`, "mode"},
		{"POST /v1/memory/recall", `{"agent_id":"a","mode":"query","order":"up"}`, "order"},
		{"POST /v1/reads", `{"reads":[{"read":"recall","agent_id":"a","mode":"query","order":"up"}]}`, "order"},
		{"GET /v1/memory?agent_id=", ``, "agent_id"},
		{"GET /v1/memory?prefix=m", ``, "prefix"},
		{"POST /v1/reads", `{"reads":[{"read":"list_memories","agent_id":""}]}`, "agent_id"},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		got := k.call(method, path, c.body)
		got.want(got.problem(400, "invalid"), map[string]any{"field": c.field})
	}
	k.call("POST", "/v1/memory/recall", "").problem(400, "invalid")
}

func TestLimitsOfMemoriesAreCappedAndNeverNegative(t *testing.T) {
	k := newKit(t)
	for _, c := range []struct {
		call, body string
	}{
		{"GET /v1/memory?agent_id=a&limit=-1", ""},
		{"POST /v1/memory/recall", `{"agent_id":"a","query":"x","limit":-1}`},
		{"POST /v1/reads", `{"reads":[{"read":"recall","agent_id":"a","query":"x","limit":-1}]}`},
		{"POST /v1/reads", `{"reads":[{"read":"list_memories","agent_id":"a","limit":-1}]}`},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		got := k.call(method, path, c.body)
		got.want(got.problem(400, "invalid"), map[string]any{"field": "limit"})
	}
	k.call("GET", "/v1/memory?agent_id=a&limit=1001", "").ok(200)
	answer := k.call("POST", "/v1/memory/recall", `{"agent_id":"a","query":"x","limit":100000}`).ok(200)
	if limit := answer["request"].(map[string]any)["limit"]; limit != 1000.0 {
		t.Errorf("the limit is %v", limit)
	}
}
