package rest_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/server/rest"
)

// statuses is the contract's table.
var statuses = map[agent.Code]int{
	agent.CodeInvalid: 400, agent.CodeUnauthenticated: 401, agent.CodeForbidden: 403, agent.CodeNotFound: 404,
	agent.CodeIdempotencyMismatch: 422, agent.CodeRequestExpired: 409, agent.CodeConflict: 409,
	agent.CodeRevRegression: 409, agent.CodeDuplicateEntry: 409, agent.CodeRevisionMismatch: 409,
	agent.CodeFenced: 409, agent.CodeAlreadyClaimed: 409, agent.CodeMissingThread: 409,
	agent.CodeThreadMismatch: 409, agent.CodeAlreadyExists: 409, agent.CodeDeleted: 410, agent.CodeCompacted: 410,
	agent.CodeTooLarge: 413, agent.CodeQuotaExceeded: 403, agent.CodeOverloaded: 429, agent.CodeUnavailable: 503, agent.CodeReadOnly: 503, agent.CodeThawFailed: 409, agent.CodeHandlerFailed: 502,
	agent.CodeMutationInProgress: 409, agent.CodeMutationFailed: 409, agent.CodeReconcileFailed: 409, agent.CodeNotOwner: 503,
	agent.CodeCorrupt: 500, agent.CodeInternal: 500, agent.CodeUnknown: 504,
	agent.CodeSessionAlreadyRunning: 409, agent.CodeSessionNotResumable: 409, agent.CodeSessionNotRecoverable: 409,
	agent.CodeSessionLeaseActive: 409, agent.CodeSessionLeaseRequired: 409, agent.CodeSessionLeaseExpired: 409,
	agent.CodeStaleSessionLease: 409, agent.CodeStaleSessionRevision: 409, agent.CodeStaleConversationRevision: 409,
	agent.CodeInvalidConversation: 409, agent.CodeCheckpointMismatch: 409, agent.CodeCommitMismatch: 409,
	agent.CodeMissingSnapshot: 409, agent.CodeSessionQueueEmpty: 409, agent.CodeUnsupportedSchema: 400,
	agent.CodeReviewDecided: 409, agent.CodeApprovalExpired: 409, agent.CodeApprovalMismatch: 409,
}

// codesOfAgent returns the codes that package agent declares, read from its source.
func codesOfAgent(t *testing.T) []agent.Code {
	t.Helper()
	codes := codesOf(t, "../../agent/error.go")
	if len(codes) < 20 {
		t.Fatalf("only %d codes in agent/error.go", len(codes))
	}
	ofSessions := codesOf(t, "../../agent/session.go")
	if len(ofSessions) < 10 {
		t.Fatalf("only %d codes in agent/session.go", len(ofSessions))
	}
	return append(codes, ofSessions...)
}

func codesOf(t *testing.T, path string) (codes []agent.Code) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Code") {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, agent.Code(text))
		return true
	})
	return codes
}

// leased are the details of errors about a session's lease.
var leased = map[string]any{"epoch": 5.0, "holder": "o", "expires_at": 6.0, "state": "s"}

func TestEveryCodeHasItsStatusAndFields(t *testing.T) {
	facts := map[agent.Code]map[string]any{
		agent.CodeInvalid:            {"field": "f"},
		agent.CodeTooLarge:           {"limit": "l"},
		agent.CodeQuotaExceeded:      {"limit": "l", "field": "f"},
		agent.CodeConflict:           {"rev": 0.0, "head": "h"},
		agent.CodeRevRegression:      {"rev": 0.0, "head": "h"},
		agent.CodeDuplicateEntry:     {"seq": 0.0},
		agent.CodeRevisionMismatch:   {"revision": 0.0},
		agent.CodeFenced:             {"epoch": 5.0, "holder": "o"},
		agent.CodeAlreadyClaimed:     {"epoch": 5.0, "holder": "o", "expires_at": 6.0},
		agent.CodeMissingThread:      {"thread": "t", "rev": 0.0, "head": "h"},
		agent.CodeThreadMismatch:     {"thread": "t", "rev": 0.0, "head": "h"},
		agent.CodeDeleted:            {"incarnation": 9.0},
		agent.CodeCompacted:          {"floor": 3.0},
		agent.CodeOverloaded:         {"retry_after_ms": 1500.0},
		agent.CodeThawFailed:         {"reason": "why"},
		agent.CodeMutationInProgress: {"reason": "why"},
		agent.CodeMutationFailed:     {"reason": "why"},
		agent.CodeReconcileFailed:    {"reason": "why"},
		agent.CodeHandlerFailed:      {"reason": "why"},
		agent.CodeUnavailable:        {"reason": "why"},

		agent.CodeSessionAlreadyRunning: leased, agent.CodeSessionNotResumable: leased, agent.CodeSessionNotRecoverable: leased,
		agent.CodeSessionLeaseActive: leased, agent.CodeSessionLeaseExpired: leased, agent.CodeStaleSessionLease: leased,
		agent.CodeSessionLeaseRequired:      {"revision": 0.0, "epoch": 5.0, "holder": "o"},
		agent.CodeStaleSessionRevision:      {"revision": 0.0},
		agent.CodeStaleConversationRevision: {"revision": 0.0},
		agent.CodeInvalidConversation:       {"revision": 0.0},
		agent.CodeMissingSnapshot:           {"state": "s"},
		agent.CodeSessionQueueEmpty:         {"state": "s"},
		agent.CodeUnsupportedSchema:         {"field": "f"},
		agent.CodeReviewDecided:             {"state": "s", "holder": "o"},
		agent.CodeApprovalExpired:           {"state": "s", "expires_at": 6.0},
		agent.CodeApprovalMismatch:          {"state": "s"},
	}
	k := newKit(t)
	for _, code := range codesOfAgent(t) {
		t.Run(string(code), func(t *testing.T) {
			k.fake.commitFault = &agent.Error{
				Code: code, Detail: "why", Op: 0, Field: "f", Limit: "l", Head: "h", Thread: "t",
				Incarnation: 9, Floor: 3, Epoch: 5, Holder: "o", ExpiresAt: 6, RetryAfterMS: 1500, State: "s", Reason: "why",
			}
			got := k.in(t).call("PUT", "/v1/checkpoints/a", `{"state":{}}`)
			members := got.problem(statuses[code], string(code))
			got.want(members, facts[code])
			if extra := len(members) - 5 - len(facts[code]); extra != 0 && code != agent.CodeTooLarge {
				t.Errorf("%d members that the code does not name: %s", extra, got.Body)
			}
			if code == agent.CodeOverloaded && got.Header().Get("Retry-After") != "2" {
				t.Errorf("Retry-After is %q", got.Header().Get("Retry-After"))
			}
		})
	}
}

// The error of a handler may not say when to retry: a client must not do so at once.
func TestOverloadedAlwaysSaysWhenToRetry(t *testing.T) {
	k := newKit(t)
	k.fake.commitFault = agent.ErrOverloaded
	got := k.call("PUT", "/v1/checkpoints/a", `{"state":{}}`)
	if members := got.problem(429, "overloaded"); members["retry_after_ms"] != 1000.0 || got.Header().Get("Retry-After") != "1" {
		t.Errorf("it says %v ms, Retry-After is %q", members["retry_after_ms"], got.Header().Get("Retry-After"))
	}
}

func TestUnavailableWithoutAReasonHasNoMemberForIt(t *testing.T) {
	k := newKit(t)
	k.fake.commitFault = agent.Errorf(agent.CodeUnavailable, "no leader")
	members := k.call("PUT", "/v1/checkpoints/a", `{"state":{}}`).problem(503, "unavailable")
	if reason, ok := members["reason"]; ok {
		t.Errorf("reason is %q", reason)
	}
}

func TestAnErrorWithoutACodeKeepsItsWordsToItself(t *testing.T) {
	k := newKit(t)
	k.fake.commitFault = errors.New("secret of the inside")
	got := k.call("PUT", "/v1/checkpoints/a", `{"state":{}}`)
	got.problem(500, "internal")
	if strings.Contains(got.Body.String(), "secret") {
		t.Errorf("it told: %s", got.Body)
	}
}

func TestAPanicIsAProblem(t *testing.T) {
	k := newKit(t)
	k.fake.onCommit = func(context.Context) error { panic("a bug") }
	k.call("PUT", "/v1/checkpoints/a", `{"state":{}}`).problem(500, "internal")
}

func TestWhatNoRouteServesIsAProblem(t *testing.T) {
	k := newKit(t)
	for _, path := range []string{"/", "/v1", "/v2/checkpoints", "/v1/checkpoints/", "/v1/checkpoints/a/", "/v1/checkpoints/a/b", "/v1//checkpoints", "/v1/checkpoints/..", "/v1/sessions/s1/runs", "/v1/memory/a/m/x", "/v1/claims/c", "/metrics"} {
		k.call("GET", path, "").problem(404, "not_found")
	}
	for path, allow := range map[string]string{
		"/v1/checkpoints/a":       "DELETE, GET, HEAD, PATCH, PUT",
		"/v1/commits":             "POST",
		"/v1/threads":             "DELETE, GET, HEAD, POST",
		"/v1/agents/a/hibernate":  "POST",
		"/v1/cluster/leave":       "POST",
		"/openapi.json":           "GET, HEAD",
		"/v1/threads/t/entries/e": "GET, HEAD",
	} {
		got := k.call("OPTIONS", path, "")
		got.problem(405, "method_not_allowed")
		if got.Header().Get("Allow") != allow {
			t.Errorf("%s allows %q, want %q", path, got.Header().Get("Allow"), allow)
		}
	}
}

func TestABrowserOfAnotherOriginIsForbidden(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/threads", `{}`, "Sec-Fetch-Site: cross-site", "Origin: https://evil.example").problem(403, "forbidden")
	k.call("POST", "/v1/threads", `{}`, "Sec-Fetch-Site: same-origin").ok(201)
	k.call("GET", "/v1/threads", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors").problem(403, "forbidden")
	k.call("GET", "/v1/threads", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors").problem(403, "forbidden")
	k.call("GET", "/v1/threads", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate").ok(200) // a link that a person follows
}

func TestPastItsTimeAWriteIsUnknownAndAReadUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		wait := func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		k.fake.onCommit, k.fake.onRead = wait, wait
		for _, c := range []struct {
			headers []string
			want    time.Duration
		}{
			{nil, 10 * time.Second},
			{[]string{"Dormouse-Timeout-Ms: 250"}, 250 * time.Millisecond},
		} {
			began := time.Now()
			k.call("PUT", "/v1/checkpoints/a", `{"state":{}}`, c.headers...).problem(504, "unknown")
			k.call("GET", "/v1/checkpoints/a", "", c.headers...).problem(503, "unavailable")
			if took := time.Since(began); took != 2*c.want {
				t.Errorf("with %v two calls took %v", c.headers, took)
			}
		}
		// An outcome "unknown" of a read means that there is no answer.
		k.fake.onRead = func(context.Context) error { return agent.Errorf(agent.CodeUnknown, "time is over") }
		k.call("GET", "/v1/checkpoints/a", "").problem(503, "unavailable")
	})
	k := newKit(t)
	for _, bad := range []string{"0", "-1", "x", "1.5", "600001", "99999999999999999999"} {
		got := k.call("GET", "/v1/threads", "", "Dormouse-Timeout-Ms: "+bad)
		got.want(got.problem(400, "invalid"), map[string]any{"field": "Dormouse-Timeout-Ms"})
	}
}

func TestCallsPastTheBoundAreOverloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, rest.Options{Watches: 1})
		k.call("POST", "/v1/threads/t/entries", `{}`).ok(201)
		ctx, cancel := context.WithCancel(t.Context())
		first := k.watch(ctx, "/v1/threads/t/watch")
		synctest.Wait()
		got := k.call("GET", "/v1/threads/t/watch", "")
		got.problem(429, "overloaded")
		if got.Header().Get("Retry-After") != "1" {
			t.Errorf("Retry-After is %q", got.Header().Get("Retry-After"))
		}
		cancel()
		<-first.done
		ctx, cancel = context.WithCancel(t.Context())
		second := k.watch(ctx, "/v1/threads/t/watch")
		synctest.Wait()
		cancel()
		<-second.done
		if second.Code != http.StatusOK {
			t.Errorf("after the first ended, a watch is %d", second.Code)
		}
	})
}
