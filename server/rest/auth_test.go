package rest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/server/rest"
)

// tokenStore is an access.Store with a token for each secret.
type tokenStore map[agent.TokenHash]agent.Token

func (s tokenStore) Token(hash agent.TokenHash) (agent.Token, bool, error) {
	t, ok := s[hash]
	return t, ok, nil
}

func (s tokenStore) Barrier(context.Context) error { return nil }

func (s tokenStore) add(principal string, grants ...agent.Grant) (secret string) {
	secret = access.NewSecret()
	hash := agent.HashToken(secret)
	s[hash] = agent.Token{ID: hash.TokenID(), Principal: principal, Grants: grants}
	return secret
}

// operations calls visit for each operation of the document, with a path that has values for its
// parameters.
func operations(t *testing.T, visit func(id, method, path string)) {
	t.Helper()
	_, doc := document(t)
	for path, item := range doc["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			segments := strings.Split(path, "/")
			for i, segment := range segments {
				if strings.HasPrefix(segment, "{") {
					segments[i] = "other"
				}
			}
			visit(op.(map[string]any)["operationId"].(string), strings.ToUpper(method), strings.Join(segments, "/"))
		}
	}
}

func TestEachRouteHasARule(t *testing.T) {
	operations(t, func(id, method, path string) {
		if !access.OfRoute(id).Known() {
			t.Errorf("%s (%s %s) has no rule in package access", id, method, path)
		}
	})
}

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read before the call was refused")
	return 0, io.EOF
}

func TestARouteRefusesWhoHasNoTokenOrNoRightBeforeItReadsTheBody(t *testing.T) {
	tokens := tokenStore{}
	powerless := tokens.add("powerless", agent.Grant{Scopes: []string{"mine"}, Verbs: agent.ScopeVerbs()})
	f := newFake()
	handler, err := rest.New(f, f, rest.Options{Metrics: http.NotFoundHandler(), Auth: access.NewAuthenticator(access.Options{Store: tokens})})
	if err != nil {
		t.Fatal(err)
	}
	operations(t, func(id, method, path string) {
		rule := access.OfRoute(id)
		if rule.Open() {
			return
		}
		call := func(token string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(method, path, unread{t})
			r.Header.Set("Content-Type", "application/json")
			if !strings.HasPrefix(path, "/v1/scopes/") && len(rule.Verbs()) > 0 && !rule.Verbs()[0].OfCluster() {
				r.Header.Set("Dormouse-Scope", "other")
			}
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			return w
		}
		for _, token := range []string{"", access.NewSecret(), "dorm_x"} {
			if w := call(token); w.Code != http.StatusUnauthorized && w.Code != http.StatusTooManyRequests || w.Code == 401 && w.Header().Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s with token %.6q: %d %v", id, token, w.Code, w.Header())
			}
		}
		if len(rule.Verbs()) == 0 {
			return // the service decides: see access.Guard
		}
		w := call(powerless)
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), string(rule.Verbs()[0])) {
			t.Errorf("%s in another scope: %d %s", id, w.Code, w.Body)
		}
	})
}

// denials keeps what it is told, as records of the audit log show it.
type denials []string

func (d *denials) Denied(ctx context.Context, about access.Subject, err error) {
	name := ""
	if p := access.From(ctx); p != nil {
		name = p.Name
	}
	*d = append(*d, fmt.Sprintf("%s %s %s %v %q %q %s", access.CallOf(ctx).Method, name, about.Action, about.Verbs, about.Scope, about.Object, agent.CodeOf(err)))
}

// A call that this package refuses is recorded as one that the guards refuse: with its action, the verbs that it needs,
// its scope and the ids in its path.
func TestARefusedRequestIsRecordedWithWhatItIsAbout(t *testing.T) {
	tokens := tokenStore{}
	secret := tokens.add("ann", agent.Grant{Scopes: []string{"mine"}, Verbs: []agent.Verb{agent.VerbRead}})
	var told denials
	k := newKitWith(t, rest.Options{Auth: access.NewAuthenticator(access.Options{Store: tokens}), Audit: &told})
	for _, c := range []struct {
		method, path, token string
		status              int
		want                string
	}{
		{"DELETE", "/v1/threads/a%2Fb", secret, 403, `delete-thread ann delete_thread [write] "s" ["a/b"] forbidden`},
		{"GET", "/v1/values/%2F", secret, 403, `get-value ann get_value [read] "s" ["/"] forbidden`},
		{"DELETE", "/v1/scopes/theirs", secret, 403, `delete-scope ann delete_scope [admin] "theirs" [] forbidden`},
		{"DELETE", "/v1/agents/a", secret, 403, `erase-agent ann erase_agent [admin read] "s" ["a"] forbidden`},
		{"GET", "/v1/cluster", secret, 403, `get-cluster ann get_cluster [cluster:read] "" [] forbidden`},
		{"DELETE", "/v1/threads/a", access.NewSecret(), 401, `delete-thread  delete_thread [write] "s" ["a"] unauthenticated`},
	} {
		told = nil
		header := []string{"Authorization: Bearer " + c.token}
		if !strings.HasPrefix(c.path, "/v1/cluster") && !strings.HasPrefix(c.path, "/v1/scopes") {
			header = append(header, "Dormouse-Scope: s")
		}
		if got := k.call(c.method, c.path, "", header...); got.Code != c.status {
			t.Errorf("%s %s: %d %s", c.method, c.path, got.Code, got.Body)
		}
		if len(told) != 1 || told[0] != c.want {
			t.Errorf("%s %s is recorded as %q", c.method, c.path, told)
		}
	}
}

func TestWhoAmI(t *testing.T) {
	tokens := tokenStore{}
	secret := tokens.add("ci", agent.Grant{Scopes: []string{"team-*"}, Verbs: []agent.Verb{agent.VerbRead}})
	k := newKitWith(t, rest.Options{Auth: access.NewAuthenticator(access.Options{Store: tokens})})
	got := k.call("GET", "/v1/whoami", "", "Authorization: Bearer "+secret)
	got.want(got.ok(200), map[string]any{"principal": "ci", "source": "token", "auth": "tokens", "token_id": agent.HashToken(secret).TokenID()})
}

func TestMetricsMayBeOpen(t *testing.T) {
	k := newKitWith(t, rest.Options{
		Auth: access.NewAuthenticator(access.Options{Store: tokenStore{}}), OpenMetrics: true,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }),
	})
	k.call("GET", "/metrics", "").ok(200)
	k.call("GET", "/livez", "").ok(200)
	k.call("GET", "/openapi.json", "").ok(200)
}

func TestTheSecretOfATokenIsShownOnce(t *testing.T) {
	k := newKit(t)
	created := k.call("POST", "/v1/tokens", `{"principal":"ci","grants":[{"scopes":["s"],"verbs":["read"]}]}`).ok(201)
	secret, _ := created["secret"].(string)
	if err := access.CheckSecret(secret); err != nil || created["id"] != agent.HashToken(secret).TokenID() {
		t.Fatalf("%v: %v", created, err)
	}
	for _, path := range []string{"/v1/tokens", "/v1/tokens/" + created["id"].(string)} {
		if body := k.call("GET", path, "").Body.String(); strings.Contains(body, secret) || !strings.Contains(body, "ci") {
			t.Errorf("%s: %s", path, body)
		}
	}
}
