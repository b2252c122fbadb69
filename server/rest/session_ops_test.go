package rest_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
)

func TestACommitTakesOpsOnSessions(t *testing.T) {
	k := newKit(t)
	got := k.call("POST", "/v1/commits", `{"ops":[
		{"op":"put_session","session":"s","agent_id":"a","metadata":{"n":1.0}},
		{"op":"claim_session","session":"s","owner_id":"w","request":{"id":"r"},"ttl_ms":5000},
		{"op":"checkpoint_session","session":"s","lease_id":"lease_1","owner_id":"w","snapshot":{"snapshot_id":"n","cursor":{"phase":"wait"}}},
		{"op":"renew_session","session":"s","lease_id":"lease_1","owner_id":"w"},
		{"op":"append_thread","thread":"t","entries":[{}]},
		{"op":"commit_session","session":"s","lease_id":"lease_1","owner_id":"w","status":"waiting","reviews":[{"id":"q","operation":"rm"}]},
		{"op":"decide_review","review":"q","decision":"approve","by":"ann"},
		{"op":"resume_session","session":"s","owner_id":"v"}]}`)
	results := got.ok(200)["results"].([]any)
	k.fake.Pass(time.Minute) // the lease expires
	got = k.call("POST", "/v1/commits", `{"ops":[
		{"op":"recover_session","session":"s","owner_id":"u"},
		{"op":"cancel_session","session":"s","reason":1},
		{"op":"fork_session","session":"s","id":"f"},
		{"op":"delete_session","session":"f","seal_ms":7}]}`)
	results = append(results, got.ok(200)["results"].([]any)...)
	for i, want := range []map[string]any{
		{"id": "s", "status": "new", "revision": 1.0},
		{"id": "s", "status": "running", "revision": 2.0},
		{"id": "s", "revision": 3.0, "snapshot_count": 1.0},
		{"id": "s", "revision": 4.0},
		nil,
		{"id": "s", "status": "waiting"},
		nil,
		{"id": "s", "status": "running"},
		{"id": "s", "status": "running"},
		{"id": "s", "status": "cancelled"},
		{"id": "f", "revision": 1.0},
	} {
		if want != nil {
			got.want(results[i].(map[string]any)["session"].(map[string]any), want)
		}
	}
	got.want(results[1].(map[string]any)["lease"].(map[string]any), map[string]any{"lease_id": "lease_1", "owner_id": "w"})
	got.want(results[6].(map[string]any), map[string]any{"id": "q", "session_id": "s", "status": "approved", "decided_by": "ann"})
	got.want(results[7].(map[string]any)["recovery"].(map[string]any), map[string]any{"resume": "n"})
	got.want(results[11].(map[string]any), map[string]any{"existed": true})
	want := &agent.DeleteSession{Session: "f", Seal: 7 * time.Millisecond}
	if last := k.fake.lastCommit.Ops[3]; !reflect.DeepEqual(last, want) {
		t.Errorf("it deleted %+v", last)
	}

	for op, field := range map[string]string{
		`{"op":"put_session","session":"s"}`:                                                       "agent_id",
		`{"op":"claim_session","session":"s","owner_id":"w","lease_id":"l"}`:                       "lease_id",
		`{"op":"commit_session","session":{"status":"finished"}}`:                                  "session",
		`{"op":"commit_session","session":"s","lease_id":"l","status":"new"}`:                      "status",
		`{"op":"checkpoint_session","session":"s","snapshot":{"id":"n","cursor":{"phase":"end"}}}`: "snapshot.cursor.phase",
		`{"op":"renew_session","session":"s","ttl_ms":1}`:                                          "ttl_ms",
		`{"op":"decide_review","review":"q","decision":"approve"}`:                                 "by",
		`{"op":"delete_session","session":"s","seal_ms":18446744073709551615}`:                     "seal_ms",
	} {
		got := k.call("POST", "/v1/commits", `{"ops":[{"op":"delete_value","key":"v"},`+op+`]}`)
		got.want(got.problem(400, "invalid"), map[string]any{"op": 1.0, "field": field})
	}
}

func TestReadsFindSessionsAndReviews(t *testing.T) {
	k := newKit(t)
	body := `{"lease_id":"` + k.claimed() + `","owner_id":"w","session":{"status":"waiting","snapshots":[{"id":"n","cursor":{"phase":"wait"}}]},"reviews":[{"id":"q"}]}`
	k.call("POST", "/v1/sessions/s/commit", body).ok(200)
	got := k.call("POST", "/v1/reads", `{"reads":[
		{"read":"get_session","session":"s"},{"read":"list_sessions","status":"waiting"},
		{"read":"list_sessions","agent_id":"a","limit":1},{"read":"list_sessions","owner_id":"w"},{"read":"list_sessions","recoverable":true},
		{"read":"get_review","review":"q"},{"read":"list_reviews","before":7,"assignee":"ann"},{"read":"list_reviews","session":"s","after":"0a"}]}`)
	answers := got.ok(200)["answers"].([]any)
	found := func(i int) map[string]any { return answers[i].(map[string]any)["found"].(map[string]any) }
	got.want(found(0), map[string]any{"id": "s", "status": "waiting"})
	got.want(found(1)["items"].([]any)[0].(map[string]any), map[string]any{"id": "s", "agent_id": "a"})
	got.want(found(5), map[string]any{"id": "q", "session_id": "s"})
	if !strings.Contains(got.Body.String(), `"requests":[{"id":"r","input":"hi"`) {
		t.Errorf("the session lost something: %s", got.Body)
	}
	want := []agent.Read{
		&agent.GetSession{Session: "s"}, &agent.ListSessions{Status: agent.SessionWaiting},
		&agent.ListSessions{Agent: "a", Page: agent.Page{Limit: 1}}, &agent.ListSessions{Owner: "w"}, &agent.ListSessions{Recoverable: true},
		&agent.GetReview{Review: "q"}, &agent.ListReviews{Before: 7, Assignee: "ann"},
		&agent.ListReviews{Session: "s", Page: agent.Page{After: "0a"}},
	}
	if !reflect.DeepEqual(k.fake.lastReads.Reads, want) {
		t.Errorf("it read %+v", k.fake.lastReads.Reads)
	}
}
