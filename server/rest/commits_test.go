package rest_test

import (
	"strings"
	"testing"

	"dormouse/agent"
)

func TestACommitAnswersEachOp(t *testing.T) {
	k := newKit(t)
	got := k.call("POST", "/v1/commits", `{"fence":{"claim":"session:s1","epoch":7},"ops":[
		{"op":"append_thread","thread":"t1","expected_rev":0,"entries":[{"id":"a","at":1},{}]},
		{"op":"put_checkpoint","key":"c","state":{"n":1.0},"thread":{"id":"t1","rev":2}},
		{"op":"patch_checkpoint","key":"c","patch":{"m":2}},
		{"op":"put_value","key":"v","bytes":"AAEC","content_type":"x/y"},
		{"op":"fork_thread","thread":"t1","id":"t2"},
		{"op":"compact_thread","thread":"t2","before_seq":1},
		{"op":"hibernate_thread","thread":"t3","rev":1,"from_seq":0,"entries":[{}]},
		{"op":"delete_value","key":"none"},
		{"op":"delete_checkpoint","key":"none"},
		{"op":"delete_thread","thread":"t3"},
		{"op":"take_claim","claim":"c","holder":"h","ttl_ms":1000},
		{"op":"renew_claim","claim":"c","holder":"h","epoch":1},
		{"op":"release_claim","claim":"c","holder":"h","epoch":1,"to":"i"},
		{"op":"put_scope","history":9}]}`)
	members := got.ok(200)
	got.want(members, map[string]any{"index": 1.0, "time": float64(fakeEpoch + 1)})
	results := members["results"].([]any)
	for i, want := range []map[string]any{
		{"id": "t1", "rev": 2.0},
		{"key": "c", "revision": 1.0},
		{"key": "c", "revision": 2.0},
		{"key": "v", "revision": 1.0},
		{"id": "t2", "rev": 2.0},
		{"id": "t2", "floor": 1.0},
		{"id": "t3", "rev": 1.0},
		{"existed": false},
		{"existed": false},
		{"existed": true},
		{"name": "c", "holder": "h", "epoch": 1.0, "ttl_ms": 1000.0},
		{"name": "c", "holder": "h", "epoch": 1.0, "ttl_ms": 1000.0},
		{"name": "c", "holder": "i", "epoch": 2.0},
		{"name": "default"},
	} {
		got.want(results[i].(map[string]any), want)
	}
	if f := k.fake.lastCommit.Fence; f == nil || *f != (agent.Fence{Claim: "session:s1", Epoch: 7}) {
		t.Errorf("the fence is %+v", f)
	}
	if v := stored[*agent.Value](k, &agent.GetValue{Key: "v"}); string(v.Bytes) != "\x00\x01\x02" || v.ContentType != "x/y" {
		t.Errorf("the value is %+v", v)
	}
	k.call("POST", "/v1/commits", `{"ops":[{"op":"delete_scope"}]}`, "Dormouse-Scope: s").ok(200)
}

func TestARefusalOfACommitNamesTheOp(t *testing.T) {
	k := newKit(t)
	got := k.call("POST", "/v1/commits", `{"ops":[{"op":"put_value","key":"v"},{"op":"append_thread","thread":"t","expected_rev":3}]}`)
	got.want(got.problem(409, "conflict"), map[string]any{"op": 1.0, "rev": 0.0})
	for body, field := range map[string]string{
		`{"ops":[{"op":"put_value","key":"v"},{"op":"append_thread","thread":"t","expected_rev":"3"}]}`:        "expected_rev",
		`{"ops":[{"op":"put_value","key":"v"},{"op":"append_thread","thread":"t","entries":[{},{"refs":3}]}]}`: "entries[1].refs",
		`{"ops":[{"op":"put_value","key":"v"},{"op":"put_value","key":"w","ttl_ms":18446744073709551615}]}`:    "ttl_ms",
		`{"ops":[{"op":"put_value","key":"v"},{"op":"put_value","key":"w","bytes":"no base64"}]}`:              "bytes",
		`{"ops":[{"op":"put_value","key":"v"},{"op":"put_checkpoint","key":"w"}]}`:                             "state",
		`{"ops":[{"op":"put_value","key":"v"},{"op":"hibernate_thread","thread":"w","rev":3,"from_seq":0}]}`:   "thread.rev",
		`{"ops":[{"op":"put_value","key":"v"},{"op":"delete_value","key":".."}]}`:                              "key",
	} {
		got := k.call("POST", "/v1/commits", body)
		got.want(got.problem(400, "invalid"), map[string]any{"op": 1.0, "field": field})
	}
	got = k.call("POST", "/v1/commits", `{"ops":[`+strings.Repeat(`{"op":"delete_value","key":"v"},`, agent.CommitOpsMax)+`{}]}`)
	got.want(got.problem(413, "too_large"), map[string]any{"limit": "commit_ops_max=1024"})
}

func TestTheFencesOfBodyAndHeaderMustAgree(t *testing.T) {
	k := newKit(t)
	const body = `{"fence":{"claim":"c","epoch":7},"ops":[{"op":"delete_value","key":"v"}]}`
	k.call("POST", "/v1/commits", body, `Dormouse-Fence: claim="c";epoch=7`).ok(200)
	got := k.call("POST", "/v1/commits", body, `Dormouse-Fence: claim="c";epoch=8`)
	got.want(got.problem(400, "invalid"), map[string]any{"field": "fence"})
	k.call("POST", "/v1/commits", `{"ops":[{"op":"delete_value","key":"v"}]}`, `Dormouse-Fence: claim="c";epoch=8`).ok(200)
	if f := k.fake.lastCommit.Fence; f == nil || f.Epoch != 8 {
		t.Errorf("the fence is %+v", f)
	}
}

func TestReadsAnswerSeveralAtOneIndex(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/agents/a/hibernate", `{"state":{"n":1.0},"thread":{"id":"t","entries":[{"id":"e"}]}}`).ok(201)
	k.call("PUT", "/v1/values/v", "\x01").ok(201)
	k.call("POST", "/v1/claims/c", `{"holder":"h"}`).ok(201)
	got := k.call("POST", "/v1/reads?min_index=1", `{"reads":[
		{"read":"get_checkpoint","key":"a"},{"read":"get_checkpoint","key":"none"},{"read":"get_value","key":"v"},
		{"read":"list_values"},{"read":"list_checkpoints","prefix":"a","limit":1},{"read":"checkpoint_history","key":"a"},
		{"read":"get_thread","thread":"t"},{"read":"list_threads"},{"read":"load_entries","thread":"t","kinds":["note"]},
		{"read":"get_entry","thread":"t","entry":"e"},{"read":"verify_thread","thread":"t"},{"read":"thaw","key":"a","tail":1},
		{"read":"list_scopes"},{"read":"get_scope"},{"read":"get_claim","claim":"c"},{"read":"list_claims"}]}`)
	members := got.ok(200)
	got.want(members, map[string]any{"index": 3.0})
	answers := members["answers"].([]any)
	if len(answers) != 16 {
		t.Fatalf("%d answers", len(answers))
	}
	for i, answer := range answers {
		_, found := answer.(map[string]any)["found"]
		refusal, refused := answer.(map[string]any)["error"]
		if found == refused || refused != (i == 1) {
			t.Errorf("answer %d is %v", i, answer)
		}
		if refused && refusal.(map[string]any)["code"] != "not_found" {
			t.Errorf("answer %d is %v", i, answer)
		}
	}
	if !strings.Contains(got.Body.String(), `"state":{"n":1.0}`) || !strings.Contains(got.Body.String(), `"bytes":"AQ=="`) {
		t.Errorf("it lost something: %s", got.Body)
	}
	got = k.call("POST", "/v1/reads", `{"reads":[{"read":"get_scope"},{"read":"get_value","key":""}]}`)
	got.want(got.problem(400, "invalid"), map[string]any{"op": 1.0, "field": "key"})
	k.call("POST", "/v1/reads", `{"reads":[]}`).problem(400, "invalid")
	got = k.call("POST", "/v1/reads", `{"reads":[`+strings.Repeat(`{"read":"get_scope"},`, agent.ReadsMax)+`{}]}`)
	got.want(got.problem(413, "too_large"), map[string]any{"limit": "reads_max=128"})
}

func TestScopesAreListedSetAndDeleted(t *testing.T) {
	k := newKit(t)
	got := k.call("PUT", "/v1/scopes/a%2Fb", `{"history":7}`, "Dormouse-Scope: ignored")
	got.want(got.ok(201), map[string]any{"name": "a/b"})
	if got.Header().Get("Location") != "/v1/scopes/a%2Fb" {
		t.Errorf("Location is %s", got.Header().Get("Location"))
	}
	k.call("PUT", "/v1/scopes/a%2Fb", `{"history":8,"keys_max":1,"bytes_max":2}`).ok(200)
	got = k.call("GET", "/v1/scopes/a%2Fb", "")
	if p := got.ok(200)["policy"].(map[string]any); p["history"] != 8.0 || p["keys_max"] != 1.0 || p["bytes_max"] != 2.0 {
		t.Errorf("the policy is %v", p)
	}
	if items := k.call("GET", "/v1/scopes", "").ok(200)["items"].([]any); items[0].(map[string]any)["name"] != "a/b" {
		t.Errorf("the scopes are %v", items)
	}
	k.call("DELETE", "/v1/scopes/a%2Fb", "").ok(204)
	if k.fake.lastCommit.Scope != "a/b" {
		t.Errorf("it deleted %q", k.fake.lastCommit.Scope)
	}
}
