package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"dormouse/agent"
	"dormouse/node/nodetest"
	"dormouse/server/rest"
)

// newRealKit returns a kit over a real node instead of the fake.
func newRealKit(t *testing.T) *kit {
	t.Helper()
	n := nodetest.Start(t)
	handler, err := rest.New(n.Client, n.Client, rest.Options{Node: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	return &kit{T: t, handler: handler}
}

// sleeper creates agent a with data of all kinds.
func (k *kit) sleeper() {
	k.Helper()
	k.call("POST", "/v1/agents/a/hibernate", `{"state":{"n":1},"thread":{"id":"t","entries":[{"id":"x"}]}}`).ok(201)
	k.call("POST", "/v1/agents/a/hibernate", `{"state":{"n":2},"thread":{"id":"t","from_seq":1,"entries":[{"id":"y"}]}}`).ok(200)
	k.call("PUT", "/v1/memory/a/m", `{"content":"tea"}`).ok(201)
	k.call("PUT", "/v1/sessions/s", `{"agent_id":"a","thread":"t"}`).ok(201)
}

func TestAnAgentIsForkedOverHTTP(t *testing.T) {
	k := newRealKit(t)
	k.sleeper()
	got := k.call("POST", "/v1/agents/a/fork", `{"new_agent":"b/c","new_thread":"u","revision":1,"session":"s","new_session":"r"}`, `If-Match: "2"`)
	members := got.ok(201)
	if l := got.Header().Get("Location"); l != "/v1/checkpoints/b%2Fc" || got.Header().Get("ETag") != `"1"` || members["memories"] != 1.0 {
		t.Errorf("Location %q, ETag %q: %s", l, got.Header().Get("ETag"), got.Body)
	}
	thawed := k.call("GET", "/v1/agents/b%2Fc/thaw", "").ok(200)
	if n := len(thawed["thread"].(map[string]any)["entries"].([]any)); n != 1 {
		t.Errorf("the fork has %d entries", n)
	}
	if s := k.call("GET", "/v1/sessions/r", "").ok(200); s["agent_id"] != "b/c" || s["thread"] != "u" {
		t.Errorf("its session is %v", s)
	}
	k.call("POST", "/v1/agents/a/fork", `{"new_agent":"b/c"}`).problem(409, "already_exists")
	k.call("POST", "/v1/agents/a/fork", `{"new_agent":"d"}`, `If-Match: "1"`).problem(409, "revision_mismatch")
	k.call("POST", "/v1/agents/a/fork", `{"new_agent":"d","revision":9}`).problem(404, "not_found")
	k.call("POST", "/v1/agents/z/fork", `{"new_agent":"d"}`).problem(404, "not_found")
	k.call("POST", "/v1/agents/a/fork", `{}`).problem(400, "invalid")
	k.call("GET", "/v1/checkpoints/d", "").problem(404, "not_found")
	pruned := k.call("POST", "/v1/threads/t/compact", `{"before_seq":2}`).problem(409, "conflict")
	if detail := pruned["detail"].(string); !strings.Contains(detail, `"u"`) && !strings.Contains(detail, "points to") {
		t.Errorf("a prune that would orphan a fork is told %q", detail)
	}
}

func TestThawingAtARevisionThatIsNotKeptNamesThoseThatAre(t *testing.T) {
	k := newRealKit(t)
	k.call("PUT", "/v1/scopes/default", `{"history":1}`).ok(201)
	k.sleeper()
	got := k.call("GET", "/v1/agents/a/thaw?revision=1", "")
	got.want(got.problem(404, "not_found"), map[string]any{"detail": `revision 1 of checkpoint "a" is not kept: 2 to 2 are`})
}

func TestAnAgentIsErasedOverHTTP(t *testing.T) {
	k := newRealKit(t)
	k.sleeper()
	k.call("DELETE", "/v1/agents/a?if_revision=1", "").problem(409, "revision_mismatch")
	k.call("GET", "/v1/agents/a/erasure", "").problem(404, "not_found")
	got := k.call("DELETE", "/v1/agents/a?seal_ms=60000", "", `If-Match: "2"`)
	receipt := got.ok(200)
	got.want(receipt, map[string]any{
		"agent": "a", "complete": true, "checkpoints": 1.0, "revisions": 2.0, "threads": 1.0, "entries": 2.0, "memories": 1.0, "sessions": 1.0, "kept": 0.0,
	})
	if hash, _ := receipt["hash"].(string); len(hash) != 64 || got.Header().Get("Dormouse-Index") == "" {
		t.Errorf("the receipt is %s", got.Body)
	}
	again := k.call("GET", "/v1/agents/a/erasure", "").ok(200)
	if again["hash"] != receipt["hash"] || again["index"] != receipt["index"] {
		t.Errorf("read again it is %v", again)
	}
	for _, path := range []string{"/v1/agents/a/thaw", "/v1/checkpoints/a", "/v1/checkpoints/a/history", "/v1/threads/t", "/v1/memory/a/m", "/v1/sessions/s"} {
		k.call("GET", path, "").problem(404, "not_found")
	}
	k.call("PUT", "/v1/checkpoints/a", `{"state":{}}`).problem(410, "deleted")
	k.call("PUT", "/v1/memory/a/m", `{"content":"late"}`).problem(410, "deleted")
	k.call("DELETE", "/v1/agents/never", "").ok(200)
}

// erasing never completes an erasure, and can fail reads.
type erasing struct {
	*fake
	looks error
}

func (e *erasing) Commit(context.Context, agent.Commit) (agent.Result, error) {
	return agent.Result{Index: 7, Results: []agent.OpResult{&agent.Erasure{Agent: "a", Index: 7}}}, nil
}

func (e *erasing) Read(context.Context, agent.Reads) (agent.Answers, error) {
	return agent.Answers{Index: 8, Answers: []agent.Answer{{Found: &agent.Erasure{Agent: "a", Index: 7}}}}, e.looks
}

func TestAnErasureThatIsNotCompleteInTimeIsAnswered(t *testing.T) {
	for _, looks := range []error{nil, agent.Errorf(agent.CodeUnavailable, "no leader")} {
		synctest.Test(t, func(t *testing.T) {
			service := &erasing{fake: newFake(), looks: looks}
			handler, err := rest.New(service, service, rest.Options{Node: "n1"})
			if err != nil {
				t.Fatal(err)
			}
			got := (&kit{T: t, handler: handler}).call("DELETE", "/v1/agents/a", "", "Dormouse-Timeout-Ms: 60000")
			got.want(got.ok(200), map[string]any{"agent": "a", "index": 7.0, "complete": false})
		})
	}
}

func TestThreadsSessionsAndConversationsHaveATTLOverHTTP(t *testing.T) {
	k := newRealKit(t)
	k.sleeper()
	k.call("PUT", "/v1/conversations/c", `{"lifecycle":"completion","state":{"version":1,"state":{}}}`).ok(201)
	if got := k.call("PUT", "/v1/conversations/c/ttl", `{"ttl_ms":60000}`).ok(200); got["expires_at"].(float64) < 60_000 || got["id"] != "c" {
		t.Errorf("the conversation is %v", got)
	}
	k.call("POST", "/v1/commits", `{"ops":[{"op":"set_ttl","conversation_id":"c","ttl_ms":0}]}`).ok(200)
	if got := k.call("GET", "/v1/conversations/c", "").ok(200); got["expires_at"] != nil {
		t.Errorf("the conversation is %v", got)
	}
	k.call("PUT", "/v1/conversations/z/ttl", `{"ttl_ms":60000}`).problem(404, "not_found")
	if got := k.call("PUT", "/v1/threads/t/ttl", `{"ttl_ms":60000}`).ok(200); got["expires_at"].(float64) < 60_000 {
		t.Errorf("the thread is %v", got)
	}
	if got := k.call("PUT", "/v1/sessions/s/ttl", `{"ttl_ms":60000}`).ok(200); got["expires_at"].(float64) < 60_000 {
		t.Errorf("the session is %v", got)
	}
	k.call("PUT", "/v1/threads/z/ttl", `{"ttl_ms":60000}`).problem(404, "not_found")
	k.call("PUT", "/v1/threads/t/ttl", `{"ttl_ms":-1}`).problem(400, "invalid")
	for _, body := range []string{`{}`, `{"ttl_ms":null}`, `{"if_incarnation":1}`} { // would remove the deadline
		if got := k.call("PUT", "/v1/threads/t/ttl", body).problem(400, "invalid"); got["field"] != "ttl_ms" {
			t.Errorf("%s: %v", body, got)
		}
	}
	k.call("POST", "/v1/commits", `{"ops":[{"op":"set_ttl","thread":"t"}]}`).problem(400, "invalid")
	if got := k.call("PUT", "/v1/threads/t/ttl", `{"ttl_ms":0}`).ok(200); got["expires_at"] != nil {
		t.Errorf("the thread is %v", got)
	}
}

func TestOpsOnWholeAgentsGoInACommit(t *testing.T) {
	k := newRealKit(t)
	k.sleeper()
	got := k.call(http.MethodPost, "/v1/commits", `{"ops":[
		{"op":"fork_agent","agent":"a","new_agent":"b"},{"op":"set_ttl","thread":"b","ttl_ms":1000},{"op":"erase_agent","agent":"a","seal_ms":1000}]}`)
	results := got.ok(200)["results"].([]any)
	if results[0].(map[string]any)["memories"] != 1.0 || results[2].(map[string]any)["complete"] != true {
		t.Errorf("the commit came to %s", got.Body)
	}
	read := k.call(http.MethodPost, "/v1/reads", `{"reads":[{"read":"get_erasure","agent":"a"},{"read":"get_checkpoint","key":"b"}]}`)
	answers := read.ok(200)["answers"].([]any)
	if answers[0].(map[string]any)["found"].(map[string]any)["sessions"] != 1.0 || answers[1].(map[string]any)["found"] == nil {
		t.Errorf("read %s", read.Body)
	}
}
