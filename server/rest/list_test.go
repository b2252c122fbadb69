package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"dormouse/agent"
)

// column returns a member of each item of a page, separated by spaces, and the page's next.
func column(t *testing.T, members map[string]any, name string) (all string, next any) {
	t.Helper()
	items, ok := members["items"].([]any)
	if !ok {
		t.Fatalf("the page is %v", members)
	}
	var values []string
	for _, item := range items {
		values = append(values, fmt.Sprint(item.(map[string]any)[name]))
	}
	return strings.Join(values, " "), members["next"]
}

// The bug that a saver met: it took an empty page without a next for a thread without the kind.
func TestATailOfAKindIsFoundBehindManyMegabytes(t *testing.T) {
	k := newRealKit(t)
	k.call("POST", "/v1/threads/t/entries", `{"entries":[{"id":"c","kind":"c"}]}`).ok(201)
	other := `{"entries":[{"kind":"other","payload":{"x":"` + strings.Repeat("x", 1<<20-100) + `"}}]}`
	for range 20 {
		k.call("POST", "/v1/threads/t/entries", other).ok(200)
	}
	for _, query := range []string{"kind=c&tail=1", "kind=c&order=desc&limit=1", "kind=c"} {
		ids, next := column(t, k.call("GET", "/v1/threads/t/entries?"+query, "").ok(200), "id")
		if ids != "c" || next != nil {
			t.Errorf("%s finds %q, next %v", query, ids, next)
		}
	}
}

func TestListsGoBackwardsAndShowBodies(t *testing.T) {
	k := newRealKit(t)
	for _, key := range []string{"a", "b", "c"} {
		k.call("PUT", "/v1/values/"+key, "bytes of "+key).ok(201)
		k.call("PUT", "/v1/checkpoints/"+key, `{"state":{"key":"`+key+`"},"metadata":{"m":1}}`).ok(201)
		k.call("POST", "/v1/threads/t/entries", `{"entries":[{"id":"`+key+`","at":`+fmt.Sprint(10*int(key[0]))+`}]}`)
	}
	got, next := column(t, k.call("GET", "/v1/values?order=desc&limit=2&include=body", "").ok(200), "body")
	if want := "Ynl0ZXMgb2YgYw== Ynl0ZXMgb2YgYg=="; got != want || next != "b" {
		t.Errorf("the bodies of values are %q, next %v", got, next)
	}
	if got, next = column(t, k.call("GET", "/v1/values?order=desc&after=b", "").ok(200), "key"); got != "a" || next != nil {
		t.Errorf("the second page is %q, next %v", got, next)
	}
	if got, _ = column(t, k.call("GET", "/v1/checkpoints?include=body", "").ok(200), "state"); got != "map[key:a] map[key:b] map[key:c]" {
		t.Errorf("the states are %q", got)
	}
	if got, _ = column(t, k.call("GET", "/v1/checkpoints?until=1000000", "").ok(200), "key"); got != "" {
		t.Errorf("checkpoints before 1970 ended: %q", got)
	}
	members := k.call("GET", "/v1/threads/t/entries?order=desc&limit=1&since=980", "").ok(200)
	if got, next = column(t, members, "id"); got != "c" || next != float64(1) {
		t.Errorf("the last entry is %q, next %v", got, next)
	}
	if got, next = column(t, k.call("GET", "/v1/threads/t/entries?order=desc&to=1&since=980", "").ok(200), "id"); got != "b" || next != nil {
		t.Errorf("the entries before it are %q, next %v", got, next)
	}
	body := k.call("POST", "/v1/reads", `{"reads":[{"read":"list_values","order":"desc","limit":1,"body":true},
		{"read":"load_entries","thread":"t","order":"desc","until":990}]}`)
	body.ok(200)
	for _, part := range []string{`"body":"Ynl0ZXMgb2YgYw=="`, `"items":[{"id":"b",`} {
		if !bytes.Contains(body.Body.Bytes(), []byte(part)) {
			t.Errorf("the reads lack %s: %s", part, body.Body)
		}
	}
	for field, query := range map[string]string{
		"order": "/v1/values?order=up", "tail": "/v1/threads/t/entries?order=desc&tail=1", "include": "/v1/threads?include=body",
	} {
		answer := k.call("GET", query, "")
		answer.want(answer.problem(400, "invalid"), map[string]any{"field": field})
	}
}

func TestTheFeedShowsWhatWasWritten(t *testing.T) {
	k := newKit(t)
	k.feed(
		agent.Event{Kind: agent.EventChanges, Through: 8, Changes: []agent.Changed{
			{Index: 7, Kind: agent.ChangedValue, Key: "v", Revision: 2, Body: &agent.Value{Key: "v", Revision: 2, Bytes: []byte("1")}},
			{Index: 7, Ordinal: 1, Kind: agent.ChangedCheckpoint, Key: "c", Revision: 1, Body: &agent.Checkpoint{Key: "c", State: agent.JSON(`{"n":1}`)}},
			{Index: 8, Kind: agent.ChangedValue, Key: "w", Revision: 1},
		}},
		agent.Event{Kind: agent.EventCompacted, Floor: 70},
	)
	var got []string
	for line := range strings.Lines(k.call("GET", "/v1/changes?include=body", "").Body.String()) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || !strings.Contains(data, `"key"`) {
			continue
		}
		var change struct {
			Key  string
			Body struct {
				Bytes []byte
				State json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(data), &change); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s%s", change.Key, change.Body.Bytes, change.Body.State))
	}
	if want := []string{"v 1", `c {"n":1}`, "w "}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the changes are %q, want %q", got, want)
	}
}

func TestListsSelectByDeclaredMetadata(t *testing.T) {
	k := newRealKit(t)
	for key, metadata := range map[string]string{"a": `{"user":"ann=x"}`, "b": `{"user":"bob","n":1}`, "c": `{"user":"ann=x","n":1}`} {
		k.call("PUT", "/v1/checkpoints/"+key, `{"state":{},"metadata":`+metadata+`}`).ok(201)
		k.call("PUT", "/v1/sessions/"+key, `{"agent_id":"a","metadata":`+metadata+`}`).ok(201)
	}
	k.call("POST", "/v1/commits", `{"ops":[{"op":"index_metadata"}]}`).problem(400, "invalid")
	k.call("POST", "/v1/commits", `{"ops":[{"op":"index_metadata","keys":["user","n"]}]}`).ok(200)
	for k.call("GET", "/v1/scopes/default", "").ok(200)["metadata_building"] == true {
		k.call("PUT", "/v1/values/tick", "x")
	}
	for _, noun := range []string{"checkpoints", "sessions"} {
		name := map[string]string{"checkpoints": "key", "sessions": "id"}[noun]
		for query, want := range map[string]string{
			"metadata=user=ann%3Dx": "a c", "metadata=user=ann=x&metadata=n=1": "c", "metadata=n=1&order=desc&limit=1": "c", "metadata=user=x": "",
		} {
			if got, _ := column(t, k.call("GET", "/v1/"+noun+"?"+query, "").ok(200), name); got != want {
				t.Errorf("%s?%s lists %q, want %q", noun, query, got, want)
			}
		}
		for _, query := range []string{"metadata=team=x", "metadata=user", "metadata=n=1&metadata=n=2"} {
			answer := k.call("GET", "/v1/"+noun+"?"+query, "")
			answer.want(answer.problem(400, "invalid"), map[string]any{"field": "metadata"})
		}
	}
}
