package rest_test

import (
	"strings"
	"testing"

	"dormouse/agent"
)

// awkward is JSON that a decoder to Go values and back would change: 64-bit integers, 1.0 beside 1,
// unsorted members, escapes, HTML characters.
const awkward = `{"z":9007199254740993,"a":18446744073709551615,"f":1.0,"g":1,"h":1e2,"neg":-0,"html":"<b>&amp;</b>","esc":"\u003c\/\u00e9","utf8":"é😀","sub":{"b":[1,2.50,null],"a":true}}`

// spaced is awkward with insignificant white space.
var spaced = strings.NewReplacer(`,"`, " ,\n\t\"", `":`, `" : `).Replace(awkward)

func TestPayloadsKeepTheirTokensOrderAndLiterals(t *testing.T) {
	k := newKit(t)
	k.call("PUT", "/v1/checkpoints/a", `{"state":`+spaced+`,"metadata":`+spaced+`}`).ok(201)
	got := k.call("GET", "/v1/checkpoints/a", "")
	got.ok(200)
	for _, want := range []string{`"state":` + awkward, `"metadata":` + awkward} {
		if !strings.Contains(got.Body.String(), want) {
			t.Errorf("the checkpoint lacks %s:\n%s", want, got.Body)
		}
	}

	k.call("POST", "/v1/threads/t/entries", `{"entries":[{"payload":`+spaced+`,"refs":`+spaced+`}],"metadata":`+spaced+`}`).ok(201)
	got = k.call("GET", "/v1/threads/t/entries", "")
	got.ok(200)
	for _, want := range []string{`"payload":` + awkward, `"refs":` + awkward} {
		if !strings.Contains(got.Body.String(), want) {
			t.Errorf("the entry lacks %s:\n%s", want, got.Body)
		}
	}
	if meta := k.call("GET", "/v1/threads/t", "").Body.String(); !strings.Contains(meta, `"metadata":`+awkward) {
		t.Errorf("the thread lacks its metadata:\n%s", meta)
	}
}

func TestABodyThatIsWrongNamesItsField(t *testing.T) {
	k := newKit(t)
	const put, appendTo, commit = "PUT /v1/checkpoints/a", "POST /v1/threads/t/entries", "POST /v1/commits"
	for _, c := range []struct{ name, call, body, field string }{
		{"no JSON", put, `{"state":`, "state"},
		{"two values", put, `{"state":{}} {}`, "body"},
		{"no body", put, ``, "body"},
		{"an array", put, `[]`, "body"},
		{"a string", put, `"x"`, "body"},
		{"no state", put, `{}`, "state"},
		{"a state that is no object", put, `{"state":[1]}`, "state"},
		{"an unknown member", put, `{"state":{},"stat":1}`, "stat"},
		{"an unknown member within", put, `{"state":{},"thread":{"id":"t","reb":1}}`, "thread.reb"},
		{"a member in another case", put, `{"State":{}}`, "State"},
		{"a duplicate member", put, `{"state":{},"state":{}}`, "state"},
		{"a duplicate member in a payload", put, `{"state":{"deep":[{"a":1,"a":2}]}}`, "state.deep[0].a"},
		{"a duplicate member by an escape", put, `{"state":{"a":1,"\u0061":2}}`, "state.a"},
		{"invalid UTF-8", put, "{\"state\":{\"a\":\"\xff\"}}", "state.a"},
		{"a lone surrogate", put, `{"state":{"a":"\ud800"}}`, "state.a"},
		{"a string for a number", put, `{"state":{},"if_revision":"7"}`, "if_revision"},
		{"a fraction for a number", put, `{"state":{},"if_revision":1.5}`, "if_revision"},
		{"a negative number", put, `{"state":{},"version":-1}`, "version"},
		{"a number past 64 bits", put, `{"state":{},"version":18446744073709551616}`, "version"},
		{"a number for a string", put, `{"state":{},"lifecycle":1}`, "lifecycle"},
		{"a false for a string", put, `{"state":{},"lifecycle":false}`, "lifecycle"},
		{"a ttl past all time", put, `{"state":{},"ttl_ms":18446744073709551615}`, "ttl_ms"},
		{"a payload that is no object", appendTo, `{"entries":[{},{"payload":"x"}]}`, "entries[1].payload"},
		{"refs that are no object", appendTo, `{"entries":{"refs":[]}}`, "entries[0].refs"},
		{"a kind that is no string", appendTo, `{"entries":[{"kind":7}]}`, "entries[0].kind"},
		{"an unknown member of an entry", appendTo, `{"entries":[{"rev":7}]}`, "entries[0].rev"},
		{"a null entry", appendTo, `{"entries":[null]}`, "entries"},
		{"entries that are a number", appendTo, `{"entries":7}`, "entries"},
		{"a head that is none", appendTo, `{"entries":[],"expected_head":"xyz"}`, "expected_head"},
		{"an op without a name", commit, `{"ops":[{"key":"a"}]}`, "op"},
		{"an op that there is not", commit, `{"ops":[{"op":"claim"}]}`, "op"},
		{"an op that is no object", commit, `{"ops":[7]}`, "op"},
		{"an unknown member of an op", commit, `{"ops":[{"op":"put_checkpoint","key":"a","state":{},"x":1}]}`, "x"},
		{"no ops", commit, `{"ops":[]}`, "ops"},
		{"a patch that is no object", "PATCH /v1/checkpoints/a", `[1]`, "patch"},
		{"a null patch", "PATCH /v1/checkpoints/a", `null`, "patch"},
		{"a duplicate in a patch", "PATCH /v1/checkpoints/a", `{"a":1,"a":2}`, "a"},
		{"a number past 32 bits", "PUT /v1/memory/a/m", `{"content":"c","embedding":[1,1e39]}`, "embedding[1]"},
		{"a fork that is its own source", commit, `{"ops":[{"op":"fork_session","session":"s","id":"s"}]}`, "id"},
		{"a fork of a thread without an id", commit, `{"ops":[{"op":"put_value","key":"v"},{"op":"fork_thread","thread":"t"}]}`, "id"},
		{"a session of a forked agent", commit, `{"ops":[{"op":"fork_agent","agent":"a","new_agent":"b","session":"s"}]}`, "new_session"},
		{"a thread of a forked agent", "POST /v1/agents/a/fork", `{"new_agent":"b","new_thread":"\u0000"}`, "new_thread"},
		{"a read that there is not", "POST /v1/reads", `{"reads":[{"read":"everything"}]}`, "read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			method, path, _ := strings.Cut(c.call, " ")
			got := k.in(t).call(method, path, c.body)
			got.want(got.problem(400, "invalid"), map[string]any{"field": c.field})
			if k.fake.Index() != 0 {
				t.Errorf("it was applied all the same")
			}
		})
	}
}

func TestTheTextOfAProblemSaysWhatToGive(t *testing.T) {
	k := newKit(t)
	for _, c := range []struct{ call, body, detail string }{
		{"PUT /v1/memory/a/m", `{"content":"c","embedding":[1e39]}`, "embedding[0] is 1e39, and should be a number from -3.4e38 to 3.4e38"},
		{"POST /v1/sessions/s/fork", `{"id":"s"}`, "id must differ from session: a session cannot be a fork of itself"},
		{"PUT /v1/checkpoints/a", `{}`, "state is missing: give an object, {} for an empty one"},
		{"PUT /v1/checkpoints/a", `{"state":null}`, "state is null: give an object, {} for an empty one"},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		got := k.call(method, path, c.body)
		got.want(got.problem(400, "invalid"), map[string]any{"detail": c.detail})
	}
}

func TestNullTakesTheDefault(t *testing.T) {
	k := newKit(t)
	k.call("PUT", "/v1/checkpoints/a", `{"state":{},"version":null,"thread":null,"lifecycle":null,"metadata":null,"ttl_ms":null,"if_revision":null}`).ok(201)
	got := k.call("GET", "/v1/checkpoints/a", "")
	got.want(got.ok(200), map[string]any{"version": 1.0, "thread": nil, "lifecycle": ""})
	k.call("POST", "/v1/threads/t/entries", `{"entries":{"id":null,"at":null,"kind":null,"payload":null,"refs":null},"expected_rev":null}`).ok(201)
	page := k.call("GET", "/v1/threads/t/entries", "").ok(200)
	e := page["items"].([]any)[0].(map[string]any)
	if e["kind"] != "note" || !strings.HasPrefix(e["id"].(string), "entry_") || e["at"] != float64(fakeEpoch+2) {
		t.Errorf("the entry is %v", e)
	}
}

func TestABodyPastItsLimitIsRefusedBeforeItIsRead(t *testing.T) {
	k := newKit(t)
	huge := strings.Repeat(" ", 13<<20)
	got := k.call("PUT", "/v1/checkpoints/a", huge)
	if limit := got.problem(413, "too_large")["limit"]; !strings.HasPrefix(limit.(string), "body_bytes_max=") {
		t.Errorf("the limit is %v", limit)
	}
	got = k.call("PUT", "/v1/values/a", huge[:agent.ValueBytesMax+1], "Content-Type: text/plain")
	got.want(got.problem(413, "too_large"), map[string]any{"limit": "body_bytes_max=4194304"})
	k.call("PUT", "/v1/values/a", huge[:agent.ValueBytesMax], "Content-Type: text/plain").ok(201)

	got = k.call("PUT", "/v1/checkpoints/a", `{"state":{"a":"`+strings.Repeat("x", agent.CheckpointBytesMax)+`"}}`)
	got.want(got.problem(413, "too_large"), map[string]any{"limit": "checkpoint_bytes_max=4194304"})
	got = k.call("POST", "/v1/threads/t/entries", `{"entries":{"payload":{"a":"`+strings.Repeat("x", agent.EntryBytesMax)+`"}}}`)
	got.want(got.problem(413, "too_large"), map[string]any{"limit": "entry_bytes_max=4194304"})
}

func TestABodyOfAnotherTypeIsUnsupported(t *testing.T) {
	k := newKit(t)
	k.call("PUT", "/v1/checkpoints/a", `{"state":{}}`, "Content-Type: text/plain").problem(415, "unsupported_media")
	form := k.call("PUT", "/v1/checkpoints/a", `{"state":{}}`, "Content-Type: application/x-www-form-urlencoded") // as curl -d sends it
	if form.problem(415, "unsupported_media"); !strings.Contains(form.Body.String(), "send the header Content-Type: application/json") {
		t.Errorf("a body without its type is refused with %s", form.Body)
	}
	k.call("PUT", "/v1/checkpoints/a", `{}`, "Content-Type: application/merge-patch+json").problem(415, "unsupported_media")
	k.call("PUT", "/v1/checkpoints/a", `{"state":{}}`, "Content-Type: application/JSON; charset=utf-8").ok(201)
	k.call("PATCH", "/v1/checkpoints/a", `{"a":1}`, "Content-Type: application/merge-patch+json").ok(200)
	k.call("PATCH", "/v1/checkpoints/a", `{"a":1}`).ok(200)
}

func TestABodyThatWouldBeIgnoredIsRefused(t *testing.T) {
	k := newKit(t)
	k.call("PUT", "/v1/checkpoints/a", `{"state":{}}`).ok(201)
	for _, call := range []string{"DELETE /v1/checkpoints/a", "DELETE /v1/threads/t", "GET /v1/checkpoints/a", "GET /v1/checkpoints", "DELETE /v1/values/v"} {
		method, path, _ := strings.Cut(call, " ")
		for _, body := range []string{`{"if_revision":7}`, `[]`, `{`, `0`, strings.Repeat(" ", 100) + "{}"} {
			got := k.call(method, path, body).problem(400, "invalid")
			if detail, _ := got["detail"].(string); got["field"] != "body" || method == "DELETE" && !strings.Contains(detail, "in the query") {
				t.Errorf("%s with %s: %v", call, body, got)
			}
		}
	}
	for _, body := range []string{"", "{}", "null", " { }\n"} { // what libraries send that have nothing to say
		k.call("GET", "/v1/checkpoints/a", body).ok(200)
		k.call("DELETE", "/v1/checkpoints/b", body, "Content-Type: text/plain").ok(204)
	}
}
