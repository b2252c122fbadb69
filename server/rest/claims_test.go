package rest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"dormouse/agent"
)

func TestAClaimIsTakenRenewedHandedOverAndReleased(t *testing.T) {
	k := newKit(t)
	got := k.call("POST", "/v1/claims/a%2Fb", `{"holder":"w1","ttl_ms":5000}`)
	taken := got.ok(201)
	got.want(taken, map[string]any{
		"name": "a/b", "holder": "w1", "ttl_ms": 5000.0, "claimed_at": float64(fakeEpoch + 1), "expires_at": float64(fakeEpoch + 5001),
	})
	if got.Header().Get("Location") != "/v1/claims/a%2Fb" {
		t.Errorf("Location is %s", got.Header().Get("Location"))
	}
	epoch := taken["epoch"].(float64)
	got = k.call("GET", "/v1/claims/a%2Fb", "")
	got.want(got.ok(200), taken)

	got = k.call("POST", "/v1/claims/a%2Fb", `{"holder":"w2"}`)
	got.want(got.problem(409, "already_claimed"), map[string]any{"holder": "w1", "epoch": epoch, "expires_at": float64(fakeEpoch + 5001)})
	body := fmt.Sprintf(`{"holder":"w1","epoch":%.0f,"ttl_ms":9000}`, epoch)
	got = k.call("POST", "/v1/claims/a%2Fb/renew", body)
	got.want(got.ok(200), map[string]any{"epoch": epoch, "ttl_ms": 9000.0})
	got = k.call("POST", "/v1/claims/a%2Fb/renew", `{"holder":"w1","epoch":7}`)
	got.want(got.problem(409, "fenced"), map[string]any{"holder": "w1", "epoch": epoch})

	got = k.call("POST", "/v1/claims/a%2Fb/release", fmt.Sprintf(`{"holder":"w1","epoch":%.0f,"to":"w2"}`, epoch))
	next := got.ok(200)
	got.want(next, map[string]any{"holder": "w2", "ttl_ms": 9000.0})
	if next["epoch"].(float64) <= epoch {
		t.Errorf("epoch %v follows %v", next["epoch"], epoch)
	}
	got = k.call("POST", "/v1/claims/a%2Fb/release", fmt.Sprintf(`{"holder":"w2","epoch":%.0f}`, next["epoch"]))
	if got.ok(200); strings.TrimSpace(got.Body.String()) != `{"name":"a/b"}` {
		t.Errorf("released, it is %s", got.Body)
	}
	k.call("GET", "/v1/claims/a%2Fb", "").problem(404, "not_found")
	got = k.call("POST", "/v1/claims/a%2Fb/release", fmt.Sprintf(`{"holder":"w2","epoch":%.0f}`, next["epoch"]))
	got.want(got.problem(409, "fenced"), map[string]any{"holder": "", "epoch": 0.0})
}

func TestWrongClaimsNameTheField(t *testing.T) {
	k := newKit(t)
	for _, c := range []struct{ path, body, field string }{
		{"c", `{}`, "holder"},
		{"c", `{"holder":"h","ttl_ms":999}`, "ttl_ms"},
		{"c", `{"holder":"h","ttl_ms":86400001}`, "ttl_ms"},
		{"c", `{"holder":"h","ttl_ms":18446744073709551615}`, "ttl_ms"},
		{"c", `{"holder":"h","epoch":1}`, "epoch"}, // taking a claim takes no epoch
		{"c/renew", `{"holder":"h"}`, "epoch"},
		{"c/renew", `{"holder":"h","epoch":-1}`, "epoch"},
		{"c/renew", `{"holder":"h","epoch":1,"to":"i"}`, "to"},
		{"c/release", `{"epoch":1}`, "holder"},
		{"c/release", `{"holder":"h","epoch":1,"to":".."}`, "to"},
		{"c/release", `{"holder":"h","epoch":1,"ttl_ms":5000}`, "ttl_ms"},
	} {
		got := k.call("POST", "/v1/claims/"+c.path, c.body)
		got.want(got.problem(400, "invalid"), map[string]any{"field": c.field})
	}
	k.call("POST", "/v1/claims/c", "").problem(400, "invalid")
}

func TestClaimsAreListedInPages(t *testing.T) {
	k := newKit(t)
	for _, name := range []string{"b", "a", "c"} {
		k.call("POST", "/v1/claims/"+name, `{"holder":"h"}`).ok(201)
	}
	got := k.call("GET", "/v1/claims?limit=2", "")
	members := got.ok(200)
	items := members["items"].([]any)
	if len(items) != 2 || items[0].(map[string]any)["name"] != "a" || items[0].(map[string]any)["ttl_ms"] != 30000.0 || members["next"] != "b" {
		t.Errorf("the first page is %s", got.Body)
	}
	got = k.call("GET", "/v1/claims?after=b", "")
	if members = got.ok(200); len(members["items"].([]any)) != 1 || members["next"] != nil {
		t.Errorf("the last page is %s", got.Body)
	}
}

func TestAWatchOfAClaimTellsWhoHoldsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		ctx, cancel := context.WithCancel(t.Context())
		w := k.watch(ctx, "/v1/claims/c/watch")
		synctest.Wait()
		want := opened + "event: claim\ndata: {\"name\":\"c\"}\n\n"
		if got := w.wrote(); got != want {
			t.Fatalf("it wrote\n%s\nwant\n%s", got, want)
		}
		k.call("POST", "/v1/claims/c", `{"holder":"h"}`).ok(201)
		synctest.Wait()
		want += "event: claim\ndata: {\"name\":\"c\",\"holder\":\"h\",\"epoch\":1,\"ttl_ms\":30000," +
			"\"claimed_at\":1700000000001,\"expires_at\":1700000030001}\n\n"
		if got := w.wrote(); got != want {
			t.Fatalf("then it wrote\n%s\nwant\n%s", got, want)
		}
		cancel()
		<-w.done
		k.call("GET", "/v1/claims/../watch", "").problem(404, "not_found")
		k.call("GET", "/v1/claims/c/watch?from=3", "").problem(400, "invalid")
	})
}

// Every write passes its fence on.
func TestEveryWriteTakesAFence(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/agents/a/hibernate", `{"state":{},"thread":{"id":"t","entries":[{}]}}`).ok(201)
	k.call("POST", "/v1/claims/c", `{"holder":"h"}`).ok(201)
	bodies := map[string]string{
		"POST /v1/commits":                    `{"ops":[{"op":"put_value","key":"v"}]}`,
		"PUT /v1/values/{key}":                `x`,
		"PUT /v1/checkpoints/{key}":           `{"state":{}}`,
		"PATCH /v1/checkpoints/{key}":         `{}`,
		"POST /v1/threads":                    `{}`,
		"POST /v1/threads/{id}/entries":       `{"entries":[{}]}`,
		"POST /v1/threads/{id}/compact":       `{"before_seq":1}`,
		"POST /v1/threads/{id}/fork":          `{"id":"u"}`,
		"POST /v1/agents/{key}/hibernate":     `{"state":{}}`,
		"POST /v1/agents/{key}/fork":          `{"new_agent":"b"}`,
		"DELETE /v1/agents/{key}":             ``,
		"PUT /v1/threads/{id}/ttl":            `{"ttl_ms":1}`,
		"PUT /v1/sessions/{id}/ttl":           `{"ttl_ms":1}`,
		"PUT /v1/conversations/{id}/ttl":      `{"ttl_ms":1}`,
		"POST /v1/claims/{name}":              `{"holder":"h"}`,
		"POST /v1/claims/{name}/renew":        `{"holder":"h","epoch":1}`,
		"POST /v1/claims/{name}/release":      `{"holder":"h","epoch":1}`,
		"POST /v1/sessions":                   `{"agent_id":"a"}`,
		"PUT /v1/sessions/{id}":               `{"agent_id":"a"}`,
		"DELETE /v1/sessions/{id}":            ``,
		"POST /v1/sessions/{id}/claim":        `{"owner_id":"w","request":{"id":"r"}}`,
		"POST /v1/sessions/{id}/claim_resume": `{"owner_id":"w"}`,
		"POST /v1/sessions/{id}/recover":      `{"owner_id":"w"}`,
		"POST /v1/sessions/{id}/checkpoint":   `{"lease_id":"l","owner_id":"w","snapshot":{"id":"n","cursor":{"phase":"wait"}}}`,
		"POST /v1/sessions/{id}/commit":       `{"lease_id":"l","owner_id":"w","session":{"status":"finished"}}`,
		"POST /v1/sessions/{id}/renew":        `{"lease_id":"l","owner_id":"w"}`,
		"POST /v1/sessions/{id}/cancel":       `{}`,
		"POST /v1/sessions/{id}/fork":         `{"id":"u"}`,
		"POST /v1/reviews/{review}/decide":    `{"decision":"approve","by":"a"}`,
		"PUT /v1/memory/{agent}/{id}":         `{"content":"x"}`,
		"POST /v1/memory/{agent}":             `{"content":"x"}`,
		"DELETE /v1/memory/{agent}/{id}":      ``,
		"PUT /v1/managers/{manager}":          `{"handler":{"kind":"document"}}`,
		"POST /v1/threads/{id}/bytes":         `some bytes`,
		"PUT /v1/scopes/{scope}":              `{}`,
		"PUT /v1/default-policy":              `{}`,
		"DELETE /v1/scopes/{scope}":           ``,
		"DELETE /v1/values":                   ``,
		"DELETE /v1/checkpoints":              ``,
		"DELETE /v1/threads":                  ``,
		"DELETE /v1/values/{key}":             ``,
		"DELETE /v1/checkpoints/{key}":        ``,
		"DELETE /v1/threads/{id}":             ``,
	}
	fill := strings.NewReplacer("{key}", "a", "{id}", "t", "{name}", "c", "{scope}", "s", "{agent}", "g", "{review}", "q", "{manager}", "m")
	for _, path := range contract {
		method, pattern, _ := strings.Cut(path, " ")
		if method == "GET" || path == "POST /v1/reads" || path == "POST /v1/memory/recall" || strings.HasPrefix(pattern, "/v1/cluster/") || strings.HasPrefix(pattern, "/v1/placement/") ||
			strings.HasPrefix(pattern, "/v1/managers/{manager}/instances/") || strings.HasPrefix(pattern, "/v1/pods/") {
			continue
		}
		body, known := bodies[path]
		if !known {
			t.Errorf("no body for %s", path)
			continue
		}
		k.fake.lastCommit = agent.Commit{}
		target := fill.Replace(pattern)
		if method == "DELETE" && !strings.Contains(pattern, "{") {
			target += "?all=true"
		}
		k.call(method, target, body, `Dormouse-Fence: claim="c";epoch=7`)
		if f := k.fake.lastCommit.Fence; f == nil || *f != (agent.Fence{Claim: "c", Epoch: 7}) {
			t.Errorf("%s commits under %+v", path, f)
		}
	}
}
