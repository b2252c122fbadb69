package attack_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/node/nodetest"
)

// target is a node that asks for tokens, with data in the scope "theirs".
type target struct {
	*testing.T
	node *nodetest.Node
}

const secretData = "secret-data"

func newTarget(t *testing.T) *target {
	t.Helper()
	n := nodetest.StartWith(t, nodetest.Options{Auth: true, Loopback: true})
	for _, scope := range []string{"mine", "theirs"} {
		_, err := n.Commit(t.Context(), agent.Commit{Scope: scope, Ops: []agent.Op{
			&agent.PutValue{Key: "x", Bytes: []byte(secretData)},
			&agent.PutCheckpoint{Key: "x", State: agent.JSON(`{"is":"` + secretData + `"}`)},
			&agent.AppendThread{Thread: "x", Entries: []agent.Draft{{Kind: "k", Payload: agent.JSON(`{"is":"` + secretData + `"}`)}}},
			&agent.WriteMemory{Agent: "x", ID: "x", Content: secretData},
			&agent.PutManager{Manager: agent.Manager{Name: "x", Handler: agent.Handler{Kind: agent.HandlerDocument}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return &target{t, n}
}

// token creates a token and returns its id and secret.
func (a *target) token(principal string, ttl time.Duration, grants ...agent.Grant) (id, secret string) {
	a.Helper()
	t, secret, err := a.node.CreateToken(a.Context(), agent.PutToken{Principal: principal, Grants: grants, TTL: ttl})
	if err != nil {
		a.Fatal(err)
	}
	return t.ID, secret
}

func on(scope string, verbs ...agent.Verb) agent.Grant {
	return agent.Grant{Scopes: []string{scope}, Verbs: verbs}
}

// answer is what an HTTP request got.
type answer struct {
	status int
	header http.Header
	body   string
}

// call sends an HTTP request; token "" sends none.
func (a *target) call(method, path, scope, token, body string) answer {
	a.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(a.Context(), method, "http://"+a.node.HTTPAddr()+path, content)
	if err != nil {
		a.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if scope != "" {
		r.Header.Set("Dormouse-Scope", scope)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		a.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close() //nolint:errcheck // it is read
	raw, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		a.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{response.StatusCode, response.Header, string(raw)}
}

// operation is one operation of the node's own /openapi.json.
type operation struct {
	id, method, path string
	verbs            []string
	open             bool
	body             bool
}

// operations reads the operations, with "x" for each parameter of a path.
func (a *target) operations() []operation {
	a.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string                 `json:"operationId"`
			Verbs       []string               `json:"x-dormouse-verbs"`
			Security    *[]map[string][]string `json:"security"`
			RequestBody *struct{}              `json:"requestBody"`
		} `json:"paths"`
	}
	if err := json.Unmarshal([]byte(a.call("GET", "/openapi.json", "", "", "").body), &doc); err != nil {
		a.Fatal(err)
	}
	var all []operation
	for path, methods := range doc.Paths {
		for method, op := range methods {
			segments := strings.Split(path, "/")
			for i, segment := range segments {
				if strings.HasPrefix(segment, "{") {
					segments[i] = "x"
				}
			}
			if strings.HasPrefix(path, "/v1/scopes/{") {
				segments[len(segments)-1] = "theirs"
			}
			all = append(all, operation{
				id: op.OperationID, method: strings.ToUpper(method), path: strings.Join(segments, "/"), verbs: op.Verbs,
				open: op.Security != nil && len(*op.Security) == 0, body: op.RequestBody != nil,
			})
		}
	}
	if len(all) < 100 {
		a.Fatalf("the node has only %d operations", len(all))
	}
	return all
}

func (o operation) content() string {
	if o.body {
		return "{}"
	}
	return ""
}

func TestWithoutAValidTokenEachHTTPRouteIsClosed(t *testing.T) {
	a := newTarget(t)
	id, revoked := a.token("gone", 0, agent.Everything()...)
	if _, err := a.node.RevokeToken(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for _, o := range a.operations() {
		if o.open || o.id == "get-metrics" { // /metrics is open on a loopback listener
			continue
		}
		for name, token := range map[string]string{"no": "", "a malformed": "dorm_x", "a revoked": revoked, "another cluster's": access.NewSecret()} {
			got := a.call(o.method, o.path, "theirs", token, o.content())
			guessed := token != "" && got.status == http.StatusTooManyRequests // attempts are limited
			if got.status != http.StatusUnauthorized && !guessed || strings.Contains(got.body, secretData) {
				t.Errorf("%s with %s token: %d %.200s", o.id, name, got.status, got.body)
			}
			if got.status == http.StatusUnauthorized && got.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s: WWW-Authenticate is %q", o.id, got.header.Get("WWW-Authenticate"))
			}
		}
	}
}

// A token of one scope, with all scope verbs, gets nothing of another, on any route.
func TestATokenOfAScopeGetsNothingOfAnotherOverHTTP(t *testing.T) {
	a := newTarget(t)
	_, mine := a.token("mine", 0, on("mine", agent.ScopeVerbs()...))
	for _, o := range a.operations() {
		if o.open || o.id == "get-metrics" || len(o.verbs) == 0 {
			continue
		}
		got := a.call(o.method, o.path, "theirs", mine, o.content())
		if got.status != http.StatusForbidden || !strings.Contains(got.body, o.verbs[0]) {
			t.Errorf("%s: %d %.200s", o.id, got.status, got.body)
		}
		if strings.Contains(got.body, secretData) {
			t.Errorf("%s shows data of another scope: %s", o.id, got.body)
		}
	}
	if got := a.call("GET", "/v1/scopes", "", mine, ""); strings.Contains(got.body, "theirs") || !strings.Contains(got.body, "mine") {
		t.Errorf("listed scopes: %s", got.body)
	}
	if got := a.call("GET", "/v1/values/x", "mine", mine, ""); got.status != 200 || got.body != secretData {
		t.Errorf("its own scope: %d %s", got.status, got.body)
	}
}

// The unions of ops and reads are checked op by op, also those without a route of their own.
func TestCommitsAndReadsOfAnotherScopeAreForbiddenOneByOne(t *testing.T) {
	a := newTarget(t)
	_, mine := a.token("mine", 0, on("mine", agent.ScopeVerbs()...))
	before := a.dump()
	for name := range document.OpTypes() {
		body := fmt.Sprintf(`{"ops":[{"op":%q%s}]}`, name, map[string]string{"put_checkpoint": `,"key":"x","state":{}`, "index_metadata": `,"keys":[]`, "set_ttl": `,"ttl_ms":0`}[name])
		if name == "put_token" {
			body = fmt.Sprintf(`{"ops":[{"op":"put_token","principal":"x","hash":%q,"grants":[{"scopes":["theirs"],"verbs":["read"]}]}]}`, strings.Repeat("ab", 32))
		}
		got := a.call("POST", "/v1/commits", "theirs", mine, body)
		if got.status != http.StatusForbidden {
			t.Errorf("%s: %d %.200s", name, got.status, got.body)
		}
	}
	for name := range document.ReadTypes() {
		if name == "list_scopes" {
			continue
		}
		got := a.call("POST", "/v1/reads", "theirs", mine, fmt.Sprintf(`{"reads":[{"read":%q}]}`, name))
		if got.status != http.StatusForbidden || strings.Contains(got.body, secretData) {
			t.Errorf("%s: %d %.200s", name, got.status, got.body)
		}
	}
	if after := a.dump(); after != before {
		t.Errorf("the other scope has changed:\n%s\n%s", before, after)
	}
}

// dump returns what is stored in the other scope.
func (a *target) dump() string {
	a.Helper()
	answers, err := a.node.Read(a.Context(), agent.Reads{Scope: "theirs", Reads: []agent.Read{
		&agent.GetScope{}, &agent.ListValues{}, &agent.ListCheckpoints{}, &agent.ListThreads{}, &agent.ListManagers{}, &agent.ListClaims{},
	}})
	if err != nil {
		a.Fatal(err)
	}
	raw, err := json.Marshal(answers.Answers)
	if err != nil {
		a.Fatal(err)
	}
	return string(raw)
}

// A token has the verbs that it names, in its scope, and no others.
func TestAVerbGivesNoOther(t *testing.T) {
	a := newTarget(t)
	tokens := map[string]string{}
	for _, verb := range append(agent.ScopeVerbs(), agent.ClusterVerbs()...) {
		_, tokens[string(verb)] = a.token("only "+string(verb), 0, agent.Grant{Scopes: []string{"mine"}, Verbs: []agent.Verb{verb}})
	}
	for _, o := range a.operations() {
		if o.open || o.id == "get-metrics" || len(o.verbs) == 0 {
			continue
		}
		path := strings.Replace(o.path, "/v1/scopes/theirs", "/v1/scopes/mine", 1)
		for verb, token := range tokens {
			if slices.Contains(o.verbs, verb) {
				continue
			}
			if got := a.call(o.method, path, "mine", token, o.content()); got.status != http.StatusForbidden {
				t.Errorf("%s, which needs %v, with %s: %d %.200s", o.id, o.verbs, verb, got.status, got.body)
			}
		}
	}
}

func TestAnExpiredTokenIsRefused(t *testing.T) {
	a := newTarget(t)
	_, brief := a.token("brief", 300*time.Millisecond, on("mine", agent.VerbRead))
	if got := a.call("GET", "/v1/values/x", "mine", brief, ""); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		got := a.call("GET", "/v1/values/x", "mine", brief, "")
		if got.status == http.StatusUnauthorized {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("long after its end the token reads: %d", got.status)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// After a revocation is acknowledged, no write and no read of the token is served.
func TestARevocationHoldsOnceItIsAcknowledged(t *testing.T) {
	a := newTarget(t)
	for i := range 20 {
		id, secret := a.token(fmt.Sprint("brief", i), 0, on("mine", agent.VerbRead, agent.VerbWrite))
		if got := a.call("PUT", "/v1/values/y", "mine", secret, "1"); got.status/100 != 2 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if got := a.call("DELETE", "/v1/tokens/"+id, "", a.node.RootToken(), ""); got.status != http.StatusNoContent {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if got := a.call("PUT", "/v1/values/y", "mine", secret, "2"); got.status != http.StatusUnauthorized {
			t.Fatalf("a write after the revocation: %d %s", got.status, got.body)
		}
	}
}

func TestNoAnswerAndNoErrorHoldsASecret(t *testing.T) {
	a := newTarget(t)
	id, secret := a.token("ci", 0, on("mine", agent.VerbRead))
	for _, path := range []string{"/v1/tokens", "/v1/tokens/" + id, "/v1/whoami", "/v1/cluster", "/metrics"} {
		if got := a.call("GET", path, "", a.node.RootToken(), ""); got.status != 200 || strings.Contains(got.body, secret) || strings.Contains(got.body, a.node.RootToken()) {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	if got := a.call("GET", "/v1/values/x", "mine", secret+"x", ""); strings.Contains(got.body, secret) {
		t.Errorf("an error holds the token: %s", got.body)
	}
}
