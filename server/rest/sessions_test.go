package rest_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
)

// claimed creates session s and claims it for owner w, and gives the lease's id.
func (k *kit) claimed() string {
	k.Helper()
	k.call("PUT", "/v1/sessions/s", `{"agent_id":"a"}`).ok(201)
	got := k.call("POST", "/v1/sessions/s/claim", `{"owner_id":"w","request":{"id":"r","input":"hi"}}`)
	return got.ok(200)["lease"].(map[string]any)["lease_id"].(string)
}

func TestASessionIsCreatedOnceAndWrittenOverByRevision(t *testing.T) {
	k := newKit(t)
	got := k.call("PUT", "/v1/sessions/a%2Fb", `{"agent_id":"a","spec":{"n":1.0},"busy":"enqueue","thread":"t","result":[1,2],"error":null}`)
	got.want(got.ok(201), map[string]any{"id": "a/b", "revision": 1.0, "status": "new", "mode": "lease", "busy": "enqueue", "agent_id": "a", "recoverable": false})
	if got.Header().Get("Location") != "/v1/sessions/a%2Fb" || got.Header().Get("ETag") != `"1"` {
		t.Errorf("Location %s, ETag %s", got.Header().Get("Location"), got.Header().Get("ETag"))
	}
	got = k.call("GET", "/v1/sessions/a%2Fb", "")
	got.want(got.ok(200), map[string]any{"id": "a/b", "thread": "t", "schema_version": 3.0})
	for _, part := range []string{`"spec":{"n":1.0}`, `"result":[1,2]`, `"conversation":{"agent_state":{},"context_state":{}}`, `"requests":[]`, `"pending_reviews":[]`} {
		if !strings.Contains(got.Body.String(), part) {
			t.Errorf("it lacks %s: %s", part, got.Body)
		}
	}
	if strings.Contains(got.Body.String(), `"error"`) || got.Header().Get("ETag") != `"1"` {
		t.Errorf("ETag %s of %s", got.Header().Get("ETag"), got.Body)
	}

	got = k.call("PUT", "/v1/sessions/a%2Fb", `{"agent_id":"a"}`)
	got.want(got.problem(409, "already_exists"), map[string]any{"revision": 1.0})
	k.call("PUT", "/v1/sessions/a%2Fb", `{"agent_id":"a"}`, `If-None-Match: *`).problem(409, "already_exists")
	got = k.call("PUT", "/v1/sessions/a%2Fb", `{"agent_id":"b"}`, `If-Match: "1"`)
	got.want(got.ok(200), map[string]any{"revision": 2.0, "agent_id": "b"})
	got = k.call("PUT", "/v1/sessions/a%2Fb", `{"agent_id":"b"}`, `If-Match: "1"`)
	got.want(got.problem(409, "stale_session_revision"), map[string]any{"revision": 2.0})
	k.call("DELETE", "/v1/sessions/a%2Fb?seal_ms=5", "", `If-Match: "2"`).ok(204)
	want := &agent.DeleteSession{Session: "a/b", IfRevision: new(uint64), Seal: 5 * time.Millisecond}
	*want.IfRevision = 2
	if !reflect.DeepEqual(k.fake.lastCommit.Ops[0], want) {
		t.Errorf("it deleted %+v", k.fake.lastCommit.Ops[0])
	}
	k.call("GET", "/v1/sessions/a%2Fb", "").problem(404, "not_found")
}

func TestASessionOfAGeneratedIDIsTheSameOneInARetry(t *testing.T) {
	k := newKit(t)
	first := k.call("POST", "/v1/sessions", `{"agent_id":"a"}`, "Idempotency-Key: k").ok(201)["id"].(string)
	again := k.call("POST", "/v1/sessions", `{"agent_id":"a"}`, "Idempotency-Key: k").ok(201)["id"]
	other := k.call("POST", "/v1/sessions", `{"agent_id":"a","mode":"classic"}`).ok(201)["id"]
	if !strings.HasPrefix(first, "session_") || first != again || first == other {
		t.Errorf("the ids are %v, %v and %v", first, again, other)
	}
	if r := k.fake.lastCommit.Ops[0].(*agent.PutSession).IfRevision; r == nil || *r != 0 {
		t.Error("in classic mode it would write over what is there")
	}
}

func TestATurnIsClaimedCheckpointedRenewedAndCommitted(t *testing.T) {
	k := newKit(t)
	k.call("PUT", "/v1/sessions/s", `{"agent_id":"a"}`).ok(201)
	got := k.call("POST", "/v1/sessions/s/claim", `{"owner_id":"w","request":{"id":"r","input":{"q":1.0}},"ttl_ms":5000}`)
	members := got.ok(200)
	lease := members["lease"].(map[string]any)
	got.want(lease, map[string]any{
		"owner_id": "w", "request_id": "r", "epoch": 2.0, "lease_id": "lease_2",
		"acquired_at": float64(fakeEpoch + 2), "expires_at": float64(fakeEpoch + 5002),
	})
	got.want(members["session"].(map[string]any), map[string]any{"id": "s", "status": "running", "revision": 2.0, "request_count": 1.0})
	if got.Header().Get("ETag") != `"2"` {
		t.Errorf("ETag %s", got.Header().Get("ETag"))
	}
	got = k.call("POST", "/v1/sessions/s/claim", `{"owner_id":"v","request":{"id":"q"}}`)
	got.want(got.problem(409, "session_already_running"), map[string]any{
		"holder": "w", "epoch": 2.0, "expires_at": float64(fakeEpoch + 5002), "state": "running",
	})

	lease["expires_at"] = float64(fakeEpoch + 5004)
	got = k.call("POST", "/v1/sessions/s/checkpoint", `{"lease_id":"lease_2","owner_id":"w","snapshot":{
		"snapshot_id":"n","cursor":{"phase":"before_effect","loop_index":2},"turn_state":{"x":1.0}},
		"reviews":[{"interrupt_id":"i","operation":"rm","arguments":{"f":"x"},"ttl_ms":60000,"escalate_to":"bob","escalate_after_ms":30000}]}`)
	got.want(got.ok(200)["lease"].(map[string]any), lease)
	op := k.fake.lastCommit.Ops[0].(*agent.CheckpointSession)
	if at := op.Snapshot.Cursor; at.Phase != agent.PhaseBeforeEffect || at.LoopIndex != 2 || string(op.Snapshot.TurnState) != `{"x":1.0}` {
		t.Errorf("the snapshot is %+v", op.Snapshot)
	}
	if r := op.Reviews[0]; r.ID != "review:i" || r.TTL != time.Minute || r.EscalateAfter != 30*time.Second || r.EscalateTo != "bob" {
		t.Errorf("the review is %+v", r)
	}
	got = k.call("POST", "/v1/sessions/s/renew", `{"lease_id":"lease_2","owner_id":"w","ttl_ms":9000}`)
	got.want(got.ok(200)["session"].(map[string]any), map[string]any{"revision": 4.0})
	got = k.call("POST", "/v1/sessions/s/renew", `{"lease_id":"lease_7","owner_id":"w"}`)
	got.want(got.problem(409, "stale_session_lease"), map[string]any{"holder": "w", "state": "running"})

	got = k.call("POST", "/v1/sessions/s/commit", `{"lease_id":"lease_2","owner_id":"w","session":{
		"status":"finished","result":"done","conversation":{"continuation_revision":1,"agent_state":{"m":1}},
		"snapshots":[{"id":"n2","cursor":{"phase":"wait"}}]}}`)
	members = got.ok(200)
	if _, leased := members["lease"]; leased {
		t.Errorf("a lease outlives its turn: %s", got.Body)
	}
	got.want(members["session"].(map[string]any), map[string]any{"status": "finished", "revision": 5.0, "snapshot_count": 2.0})
	end := k.fake.lastCommit.Ops[0].(*agent.CommitSession)
	if string(end.Result) != `"done"` || end.Conversation.ContinuationRevision != 1 || end.Snapshots[0].ID != "n2" {
		t.Errorf("it committed %+v", end)
	}
	got = k.call("GET", "/v1/sessions/s", "")
	for _, part := range []string{
		`"requests":[{"id":"r","input":{"q":1.0},"metadata":{},"owner_id":"w","at":1700000000002,"outcome":"finished"}]`,
		`"snapshots":[{"snapshot_id":"n","agent_id":"a","request_id":"r","cursor":{"phase":"before_effect","loop_index":2},"turn_state":{"x":1.0},"metadata":{},"at":1700000000004},`,
	} {
		if !strings.Contains(got.Body.String(), part) {
			t.Errorf("it lacks %s: %s", part, got.Body)
		}
	}
}

func TestATurnIsResumedAndRecovered(t *testing.T) {
	k := newKit(t)
	lease := k.claimed()
	body := fmt.Sprintf(`{"lease_id":%q,"owner_id":"w","session":{"status":"hibernated","snapshots":[{"snapshot_id":"n","cursor":{"phase":"wait"}}]}}`, lease)
	k.call("POST", "/v1/sessions/s/commit", body).ok(200)
	got := k.call("POST", "/v1/sessions/s/claim_resume", `{"owner_id":"v","ttl_ms":2000}`)
	members := got.ok(200)
	got.want(members["recovery"].(map[string]any), map[string]any{"resume": "n"})
	got.want(members["lease"].(map[string]any), map[string]any{"owner_id": "v"})
	k.call("POST", "/v1/sessions/s/recover", `{"owner_id":"u"}`).problem(409, "session_lease_active")
	k.fake.Pass(2 * time.Second)
	got = k.call("POST", "/v1/sessions/s/recover", `{"owner_id":"u"}`)
	got.want(got.ok(200)["recovery"].(map[string]any), map[string]any{"resume": "n"})
	if op := k.fake.lastCommit.Ops[0].(*agent.RecoverSession); op.TTL != agent.ClaimTTLDefault {
		t.Errorf("it recovered for %v", op.TTL)
	}
}

func TestASessionIsCancelledAndForked(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/sessions/s/checkpoint",
		`{"lease_id":"`+k.claimed()+`","owner_id":"w","snapshot":{"snapshot_id":"n","cursor":{"phase":"wait"}}}`).ok(200)
	got := k.call("POST", "/v1/sessions/s/cancel", `{"reason":["why"]}`, `If-Match: "3"`)
	got.want(got.ok(200)["session"].(map[string]any), map[string]any{"status": "cancelled"})
	if op := k.fake.lastCommit.Ops[0].(*agent.CancelSession); *op.IfRevision != 3 || string(op.Reason) != `["why"]` {
		t.Errorf("it cancelled %+v", op)
	}
	k.call("POST", "/v1/sessions/s/cancel", "").ok(200) // a reason is not needed
	got = k.call("POST", "/v1/sessions/s/fork", `{"id":"t","snapshot_id":"n"}`, `If-Match: "5"`)
	got.want(got.ok(201), map[string]any{"id": "t", "revision": 1.0})
	if got.Header().Get("Location") != "/v1/sessions/t" {
		t.Errorf("Location is %s", got.Header().Get("Location"))
	}
	if op := k.fake.lastCommit.Ops[0].(*agent.ForkSession); *op.IfRevision != 5 || op.Snapshot != "n" {
		t.Errorf("it forked %+v", op)
	}
	got = k.call("GET", "/v1/sessions/t", "")
	lineage := got.ok(200)["lineage"].(map[string]any)
	got.want(lineage, map[string]any{"session_id": "s", "revision": 5.0, "snapshot_id": "n"})
}

func TestSessionsAreListedByWhatTheQuerySays(t *testing.T) {
	k := newKit(t)
	for _, id := range []string{"b", "a", "c"} {
		k.call("PUT", "/v1/sessions/"+id, `{"agent_id":"x"}`).ok(201)
	}
	got := k.call("GET", "/v1/sessions?limit=2", "")
	members := got.ok(200)
	if items := members["items"].([]any); len(items) != 2 || items[0].(map[string]any)["id"] != "a" || members["next"] != "b" {
		t.Errorf("the first page is %s", got.Body)
	}
	for query, want := range map[string]agent.ListSessions{
		"status=waiting":                     {Status: agent.SessionWaiting},
		"owner=w&after=b":                    {Owner: "w", Page: agent.Page{After: "b"}},
		"agent_id=x&prefix=p":                {Agent: "x", Page: agent.Page{Prefix: "p"}},
		"recoverable=true":                   {Recoverable: true},
		"recoverable=false&status=cancelled": {Status: agent.SessionCancelled},
	} {
		k.call("GET", "/v1/sessions?"+query, "").ok(200)
		if got := k.fake.lastReads.Reads[0]; !reflect.DeepEqual(got, &want) {
			t.Errorf("%s asks for %+v", query, got)
		}
	}
	k.call("GET", "/v1/sessions?status=lazy", "").problem(400, "invalid")
	k.call("GET", "/v1/sessions?status=new&owner=w", "").problem(400, "invalid")
	k.call("GET", "/v1/sessions?recoverable=perhaps", "").problem(400, "invalid")
}

func TestWrongSessionsNameTheField(t *testing.T) {
	k := newKit(t)
	for _, c := range []struct{ call, body, field string }{
		{"PUT s", `{}`, "agent_id"},
		{"PUT s", `{"agent_id":"a","mode":"lazy"}`, "mode"},
		{"PUT s", `{"agent_id":"a","busy":"wait"}`, "busy"},
		{"PUT s", `{"agent_id":"a","status":"running"}`, "status"},
		{"PUT s", `{"agent_id":"a","spec":3}`, "spec"},
		{"PUT s", `{"agent_id":"a","queue_max":65}`, "queue_max"},
		{"PUT s", `{"agent_id":"a","owner":"w"}`, "owner"},
		{"PUT s", `{"agent_id":"a","request":{"id":"r"}}`, "request"},
		{"PUT s", `{"agent_id":"a","conversation":{"turn_count":-1}}`, "conversation.turn_count"},
		{"POST s/claim", `{"request":{"id":"r"}}`, "owner_id"},
		{"POST s/claim", `{"owner_id":"w","request":{}}`, "request.id"},
		{"POST s/claim", `{"owner_id":"w","request":{"id":"r"},"ttl_ms":999}`, "ttl_ms"},
		{"POST s/claim_resume", `{"owner_id":"w","ttl_ms":86400001}`, "ttl_ms"},
		{"POST s/recover", `{"owner_id":"w","request":{"id":"r"}}`, "request"},
		{"POST s/checkpoint", `{"lease_id":"l","owner_id":"w"}`, "snapshot.snapshot_id"},
		{"POST s/checkpoint", `{"lease_id":"l","owner_id":"w","snapshot":{"id":"n","cursor":{"phase":"end"}}}`, "snapshot.cursor.phase"},
		{"POST s/checkpoint", `{"lease_id":"l","snapshot":{"id":"n","cursor":{"phase":"wait"}},"reviews":[{"id":"q","ttl_ms":18446744073709551615}]}`, "reviews[0].ttl_ms"},
		{"POST s/checkpoint", `{"lease_id":"l","snapshot":{"id":"n","cursor":{"phase":"wait"}},"reviews":[{"id":"q","ttl_ms":5,"escalate_after_ms":5}]}`, "reviews[0].escalate_after_ms"},
		{"POST s/commit", `{"lease_id":"l","owner_id":"w","session":{"status":"running"}}`, "status"},
		{"POST s/commit", `{"lease_id":"l","owner_id":"w","session":{"status":"error","error":"x","spec":{}}}`, "session.spec"},
		{"POST s/renew", `{"lease_id":"l","owner_id":"w","ttl_ms":1}`, "ttl_ms"},
		{"POST s/fork", `{"id":".."}`, "id"},
		{"POST s/fork", `{"id":"s"}`, "id"},
		{"POST s/fork", `{"id":"t","snapshot_id":"."}`, "snapshot_id"},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		got := k.call(method, "/v1/sessions/"+path, c.body)
		got.want(got.problem(400, "invalid"), map[string]any{"field": c.field})
	}
	for _, body := range []string{
		`{"agent_id":"a","schema_version":4}`, `{"agent_id":"a","schema_version":0}`,
		`{"agent_id":"a","mode":"classic","schema_version":2}`, `{"agent_id":"a","mode":"classic","schema_version":0}`,
	} {
		got := k.call("PUT", "/v1/sessions/s", body)
		got.want(got.problem(400, "unsupported_session_schema_version"), map[string]any{"field": "schema_version"})
	}
	k.call("POST", "/v1/sessions/s/claim", "").problem(400, "invalid")
	k.call("POST", "/v1/sessions/s/renew", `{}`, `If-Match: "3"`).problem(400, "invalid")
}
