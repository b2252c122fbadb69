package rest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"dormouse/node/nodetest"
	"dormouse/server/rest"
)

func init() {
	added = append(added,
		"PUT /v1/conversations/{id}", "GET /v1/conversations/{id}", "DELETE /v1/conversations/{id}", "GET /v1/conversations",
		"POST /v1/conversations/{id}/interrupted", "POST /v1/conversations/{id}/pending", "POST /v1/conversations/{id}/messages",
		"GET /v1/conversations/{id}/messages", "PATCH /v1/conversations/{id}/messages/{message}",
		"PUT /v1/files/{path}", "GET /v1/files/{path}", "DELETE /v1/files/{path}", "GET /v1/files",
		"GET /v1/files/{path}/metadata", "PATCH /v1/files/{path}/metadata", "POST /v1/files/{path}/move")
}

// realKit returns a kit over a real node.
func realKit(t *testing.T) *kit {
	t.Helper()
	handler, err := rest.New(nodetest.Start(t).Client, newFake(), rest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &kit{T: t, handler: handler}
}

const someState = `{"version":2,"state":{"messages":[]}}`

func TestAConversationIsSavedByRevision(t *testing.T) {
	k := realKit(t)
	const one = "/v1/conversations/chat%2F1"
	k.call("GET", one, "").problem(404, "not_found")
	got := k.call("PUT", one, `{"agent_id":"a","owner_id":"u","lifecycle":"interrupt","title":"Tea","state":{"version":2, "state":{"z":1,"a":2.0}}}`)
	got.want(got.ok(201), map[string]any{"id": "chat/1", "revision": 1.0, "interrupted": true, "version": 2.0, "owner_id": "u", "title": "Tea"})
	if got.Header().Get("Location") != one || got.Header().Get("ETag") != `"1"` {
		t.Errorf("headers %v", got.Header())
	}
	got = k.call("GET", one+"?agent_id=a&owner_id=u", "")
	got.want(got.ok(200), map[string]any{"lifecycle": "interrupt", "pending_count": 0.0})
	if !strings.Contains(got.Body.String(), `"state":{"version":2,"state":{"z":1,"a":2.0}}`) {
		t.Errorf("the state is not as it was: %s", got.Body)
	}
	k.call("GET", one+"?owner_id=v", "").problem(403, "forbidden")
	k.call("PUT", one, `{"lifecycle":"completion","state":`+someState+`,"owner_id":"v","if_revision":1}`).problem(403, "forbidden")
	stale := k.call("PUT", one, `{"lifecycle":"completion","state":`+someState+`}`).problem(409, "revision_mismatch")
	if stale["revision"] != 1.0 {
		t.Errorf("the problem tells %v", stale)
	}
	got = k.call("PUT", one, `{"lifecycle":"completion","state":`+someState+`}`, `If-Match: "1"`)
	got.want(got.ok(200), map[string]any{"revision": 2.0, "interrupted": false})
	for body, field := range map[string]string{
		`{"lifecycle":"completion","state":{}}`:                        "state.version",
		`{"lifecycle":"completion","state":{"version":1}}`:             "state.state",
		`{"lifecycle":"completion"}`:                                   "state",
		`{"lifecycle":"on_whim","state":` + someState + `}`:            "lifecycle",
		`{"lifecycle":"completion","state":[]}`:                        "state",
		`{"lifecycle":"completion","state":` + someState + `,"who":1}`: "who",
	} {
		problem := k.call("PUT", one, body).problem(400, "invalid")
		if at, _ := problem["field"].(string); !strings.HasSuffix(at, field) {
			t.Errorf("%s: the field is %v, want %s", body, problem["field"], field)
		}
	}
	k.call("DELETE", one+"?if_revision=1", "").problem(409, "revision_mismatch")
	k.call("DELETE", one+"?seal_ms=60000", "").ok(204)
	k.call("PUT", one, `{"lifecycle":"completion","state":`+someState+`}`).problem(410, "deleted")
}

func TestWhatWaitsForAPersonIsListedOverHTTP(t *testing.T) {
	k := realKit(t)
	for _, id := range []string{"a", "b", "c"} {
		k.call("PUT", "/v1/conversations/"+id, `{"lifecycle":"completion","state":`+someState+`}`).ok(201)
	}
	k.call("POST", "/v1/conversations/b/interrupted", `{"interrupted":true}`).ok(200)
	k.call("POST", "/v1/conversations/never/interrupted", `{"interrupted":true}`).problem(404, "not_found")
	items := k.call("GET", "/v1/conversations?interrupted=true", "").ok(200)["items"].([]any)
	if len(items) != 1 || items[0].(map[string]any)["id"] != "b" {
		t.Errorf("waiting: %v", items)
	}
	if all := k.call("GET", "/v1/conversations?limit=2", "").ok(200); len(all["items"].([]any)) != 2 || all["next"] != "b" {
		t.Errorf("a page: %v", all)
	}
}

func TestConversationsAreListedByAgentAndOwnerOverHTTP(t *testing.T) {
	k := realKit(t)
	for id, names := range map[string]string{"c1": `"agent_id":"a","owner_id":"u"`, "c2": `"agent_id":"a"`, "c3": `"agent_id":"b","owner_id":"u"`} {
		k.call("POST", "/v1/conversations/"+id+"/pending", `{"message":{},`+names+`}`).ok(200)
	}
	for k.call("GET", "/v1/conversations?agent_id=a", "").Code == http.StatusServiceUnavailable {
		time.Sleep(10 * time.Millisecond) // until the cluster knows that its only node supports the level
	}
	list := func(query string) (ids []string) {
		t.Helper()
		for _, item := range k.call("GET", "/v1/conversations?"+query, "").ok(200)["items"].([]any) {
			ids = append(ids, item.(map[string]any)["id"].(string))
		}
		return ids
	}
	for query, want := range map[string]string{"agent_id=a": "c1 c2", "owner_id=u": "c1 c3", "agent_id=a&limit=1&after=c1": "c2", "owner_id=z": ""} {
		if got := strings.Join(list(query), " "); got != want {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
	}
	k.call("GET", "/v1/conversations?agent_id=a&owner_id=u", "").problem(400, "invalid")
	k.call("GET", "/v1/conversations?agent_id=a&interrupted=true", "").problem(400, "invalid")
	read := k.call("POST", "/v1/reads", `{"reads":[{"read":"list_conversations","agent_id":"b"},{"read":"list_conversations","owner_id":"u"}]}`).ok(200)
	for i, want := range []int{1, 2} {
		if items := read["answers"].([]any)[i].(map[string]any)["found"].(map[string]any)["items"].([]any); len(items) != want {
			t.Errorf("read %d: %v", i, read)
		}
	}
	if receipt := k.call("DELETE", "/v1/agents/a", "").ok(200); receipt["complete"] != true || receipt["conversations"] != 2.0 {
		t.Errorf("the receipt: %v", receipt)
	}
	if got := strings.Join(list("owner_id=u"), " "); got != "c3" {
		t.Errorf("left: %q", got)
	}
}

func TestPendingMessagesAndWhatPeopleSee(t *testing.T) {
	k := realKit(t)
	const one = "/v1/conversations/c"
	got := k.call("POST", one+"/pending", `{"message":{"text":"<wait>"}}`, "Idempotency-Key: k1")
	got.want(got.ok(200), map[string]any{"pending": 1.0})
	again := k.call("POST", one+"/pending", `{"message":{"text":"<wait>"}}`, "Idempotency-Key: k1")
	again.want(again.ok(200), map[string]any{"pending": 1.0})
	if body := k.call("GET", one, "").Body.String(); !strings.Contains(body, `"pending":[{"number":1,"message":{"text":"<wait>"},`) {
		t.Errorf("pending: %s", body)
	}
	k.call("PUT", one, `{"lifecycle":"completion","consumed":1,"state":`+someState+`}`).ok(201)
	if body := k.call("GET", one, "").Body.String(); !strings.Contains(body, `"pending":[]`) {
		t.Errorf("pending still: %s", body)
	}
	saved := k.call("POST", one+"/messages", `{"messages":[{"role":"user","content":{"text":"hi"}},{"role":"assistant","type":"tool_call","tool_call":"t"}]}`).ok(200)
	if stamps := saved["messages"].([]any); len(stamps) != 2 || stamps[1].(map[string]any)["id"] != "call:t" {
		t.Errorf("saved as %v", saved)
	}
	k.call("PATCH", one+"/messages/call%3At", `{"status":"completed","content":{"n":1}}`).ok(200)
	k.call("PATCH", one+"/messages/call%3Au", `{"status":"completed"}`).problem(404, "not_found")
	k.call("PATCH", one+"/messages/call%3At", `{"status":"pondering"}`).problem(400, "invalid")
	k.call("POST", one+"/messages", `{"messages":[{"role":"narrator"}]}`).problem(400, "invalid")
	k.call("POST", one+"/messages", `{"messages":[]}`).problem(400, "invalid")
	page := k.call("GET", one+"/messages?tail=1", "").ok(200)
	if items := page["items"].([]any); len(items) != 1 || items[0].(map[string]any)["status"] != "completed" {
		t.Errorf("the tail is %v", page)
	}
	k.call("GET", one+"/messages?tail=1&from=1", "").problem(400, "invalid")
	commit := k.call("POST", "/v1/commits", `{"ops":[
		{"op":"save_messages","conversation_id":"c","messages":[{"role":"user"}]},
		{"op":"update_message","conversation_id":"c","message_id":"none","status":"failed"},
		{"op":"pend_message","conversation_id":"c","message":{}},
		{"op":"set_interrupted","conversation_id":"c","interrupted":true},
		{"op":"save_conversation","conversation_id":"d","lifecycle":"shutdown","state":`+someState+`},
		{"op":"delete_conversation","conversation_id":"d"}]}`).ok(200)
	if results := commit["results"].([]any); results[1].(map[string]any)["found"] != false || results[2].(map[string]any)["pending"] != 2.0 {
		t.Errorf("committed %v", commit)
	}
	reads := k.call("POST", "/v1/reads", `{"reads":[{"read":"get_conversation","conversation_id":"c"},{"read":"list_conversations","interrupted":true},
		{"read":"list_messages","conversation_id":"c","from":2},{"read":"get_conversation","conversation_id":"d"}]}`).ok(200)
	for i, answer := range reads["answers"].([]any) {
		if (answer.(map[string]any)["error"] != nil) != (i == 3) {
			t.Errorf("read %d: %v", i, answer)
		}
	}
}

func TestFilesOverHTTP(t *testing.T) {
	k := realKit(t)
	bytes := "\x00\xff\r\n<verbatim>"
	got := k.call("PUT", "/v1/files/%2Fdrafts%2Ftea.md", bytes, "Content-Type: text/markdown")
	got.want(got.ok(201), map[string]any{"path": "/drafts/tea.md", "revision": 1.0})
	if got.Header().Get("Location") != "/v1/files/%2Fdrafts%2Ftea.md" {
		t.Errorf("made at %q", got.Header().Get("Location"))
	}
	k.call("PATCH", "/v1/files/%2Fdrafts%2Ftea.md/metadata", `{"metadata":{"title":"Tea","n":null}}`, `If-Match: "1"`).ok(200)
	moved := k.call("POST", "/v1/files/%2Fdrafts%2Ftea.md/move", `{"to":"/tea.md"}`, `Idempotency-Key: m1`, `If-Match: "2"`)
	moved.want(moved.ok(200), map[string]any{"path": "/tea.md", "revision": 1.0})
	// A retry gets the first answer, even though the file has moved.
	retry := k.call("POST", "/v1/files/%2Fdrafts%2Ftea.md/move", `{"to":"/tea.md"}`, `Idempotency-Key: m1`, `If-Match: "2"`)
	retry.want(retry.ok(200), map[string]any{"path": "/tea.md", "revision": 1.0})
	k.call("POST", "/v1/files/%2Fdrafts%2Ftea.md/move", `{"to":"/tea.md"}`).problem(404, "not_found")
	k.call("PUT", "/v1/files/%2Fother", "x", "Content-Type: text/plain").ok(201)
	k.call("POST", "/v1/files/%2Fother/move", `{"to":"/tea.md"}`).problem(409, "already_exists")
	read := k.call("GET", "/v1/files/%2Ftea.md", "")
	if read.Code != http.StatusOK || read.Body.String() != bytes || read.Header().Get("Content-Type") != "text/markdown" {
		t.Errorf("read %q as %q", read.Body, read.Header().Get("Content-Type"))
	}
	meta := k.call("GET", "/v1/files/%2Ftea.md/metadata", "")
	meta.want(meta.ok(200), map[string]any{"path": "/tea.md", "bytes": float64(len(bytes)), "content_type": "text/markdown"})
	if !strings.Contains(meta.Body.String(), `"metadata":{"title":"Tea"}`) {
		t.Errorf("metadata: %s", meta.Body)
	}
	list := k.call("GET", "/v1/files?limit=1", "").ok(200)
	if items := list["items"].([]any); len(items) != 1 || items[0].(map[string]any)["path"] != "/other" || list["next"] != "/other" {
		t.Errorf("a page: %v", list)
	}
	if items := k.call("GET", "/v1/files?after=%2Fother&prefix=%2F", "").ok(200)["items"].([]any); len(items) != 1 {
		t.Errorf("the next: %v", items)
	}
	k.call("DELETE", "/v1/files/%2Fother", "").ok(204)
	k.call("GET", "/v1/files/%2Fother", "").problem(404, "not_found")
	for _, path := range []string{"relative", "%2F..%2Fetc%2Fpasswd", "%2Fa%2F..%2Fb", "%2Fa%00b", "%2F", "%2Fa%2F%2Fb"} {
		for _, method := range []string{"GET", "PUT", "DELETE"} {
			k.call(method, "/v1/files/"+path, "", "Content-Type: text/plain").problem(400, "invalid")
		}
		k.call("POST", "/v1/files/%2Ftea.md/move", `{"to":"/../up"}`).problem(400, "invalid")
	}
	k.call("PUT", "/v1/files/%2F"+strings.Repeat("x", 507), "", "Content-Type: text/plain").problem(413, "too_large")
}
