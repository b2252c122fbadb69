package rest_test

import (
	"strings"
	"testing"

	"dormouse/agent"
)

func TestHibernateIsOneCommitAndThawReadsItBack(t *testing.T) {
	k := newKit(t)
	got := k.call("POST", "/v1/agents/a/hibernate", `{"state":{"n":1},"thread":{"id":"t","rev":2,"from_seq":0,"entries":[{"id":"x"},{"id":"y"}]},"lifecycle":"idle","if_revision":0}`)
	members := got.ok(201)
	got.want(members, map[string]any{"key": "a", "revision": 1.0})
	if got.Header().Get("Location") != "/v1/checkpoints/a" || k.fake.Index() != 1 {
		t.Errorf("Location %q after %d commits", got.Header().Get("Location"), k.fake.Index())
	}
	if p := members["thread"].(map[string]any); p["id"] != "t" || p["rev"] != 2.0 {
		t.Errorf("the pointer is %v", p)
	}
	if len(k.fake.lastCommit.Ops) != 2 {
		t.Errorf("%d ops", len(k.fake.lastCommit.Ops))
	}

	// Entries that exist already are not appended again.
	k.call("POST", "/v1/agents/a/hibernate", `{"state":{},"thread":{"id":"t","rev":3,"from_seq":1,"entries":[{"id":"y"},{"id":"z"}]}}`).ok(200)
	k.call("POST", "/v1/threads/t/entries", `{"entries":[{},{}]}`).ok(200)
	got = k.call("GET", "/v1/agents/a/thaw", "")
	members = got.ok(200)
	thread := members["thread"].(map[string]any)
	if members["ahead"] != 2.0 || thread["rev"] != 3.0 || len(thread["entries"].([]any)) != 3 || members["checkpoint"].(map[string]any)["revision"] != 2.0 {
		t.Errorf("it thawed to %s", got.Body)
	}
	thread = k.call("GET", "/v1/agents/a/thaw?tail=1&revision=1", "").ok(200)["thread"].(map[string]any)
	if entries := thread["entries"].([]any); len(entries) != 1 || entries[0].(map[string]any)["id"] != "y" {
		t.Errorf("the tail is %v", entries)
	}

	got = k.call("POST", "/v1/agents/a/hibernate", `{"state":{},"thread":{"id":"t","rev":1,"entries":[{"id":"x"}]}}`)
	got.want(got.problem(409, "thread_rev_regression"), map[string]any{"rev": 5.0})
	if _, numbered := got.ok(409)["op"]; numbered {
		t.Error("a caller that sent no ops is told of one")
	}
}

func TestAnAgentWithoutAThreadThawsToNull(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/agents/a/hibernate", `{"state":{"n":1}}`).ok(201)
	got := k.call("GET", "/v1/agents/a/thaw", "")
	if !strings.HasSuffix(got.Body.String(), `"thread":null,"ahead":0}`) {
		t.Errorf("it thawed to %s", got.Body)
	}
	k.call("GET", "/v1/agents/b/thaw", "").problem(404, "not_found")
}

func TestRevAndFromSeqOfAHibernationMustAgree(t *testing.T) {
	for _, c := range []struct {
		thread    string
		rev, from uint64
		ok        bool
	}{
		{`{"id":"t","rev":2,"from_seq":0,"entries":[{},{}]}`, 2, 0, true},
		{`{"id":"t","rev":2,"entries":[{},{}]}`, 2, 0, true},
		{`{"id":"t","from_seq":0,"entries":{}}`, 1, 0, true},
		{`{"id":"t","entries":[{}]}`, 1, 0, true},
		{`{"id":"t"}`, 0, 0, true},
		{`{"id":"t","rev":1,"entries":[{},{}]}`, 0, 0, false},
		{`{"id":"t","rev":3,"from_seq":0,"entries":[{},{}]}`, 0, 0, false},
		{`{"id":"t","from_seq":18446744073709551615,"entries":[{},{}]}`, 0, 0, false},
	} {
		k := newKit(t)
		got := k.call("POST", "/v1/agents/a/hibernate", `{"state":{},"thread":`+c.thread+`}`)
		if !c.ok {
			got.want(got.problem(400, "invalid"), map[string]any{"field": "thread.rev"})
			continue
		}
		got.ok(201)
		if op := k.fake.lastCommit.Ops[0].(*agent.HibernateThread); op.Rev != c.rev || op.FromSeq != c.from {
			t.Errorf("%s is rev %d from %d", c.thread, op.Rev, op.FromSeq)
		}
	}
	newKit(t).call("POST", "/v1/agents/a/hibernate", `{}`).problem(400, "invalid")
}
