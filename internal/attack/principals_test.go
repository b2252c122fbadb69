package attack_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/node/nodetest"
)

// drawGrants draws the grants of a principal.
func drawGrants(draw *rand.Rand) []agent.Grant {
	pick := func(verbs []agent.Verb) (some []agent.Verb) {
		for _, v := range verbs {
			if draw.IntN(3) == 0 {
				some = append(some, v)
			}
		}
		return some
	}
	var grants []agent.Grant
	patterns := []string{"mine", "theirs", "team-1", "team-*", "t*"}
	for range 1 + draw.IntN(3) {
		if verbs := pick(agent.ScopeVerbs()); len(verbs) > 0 {
			grants = append(grants, on(patterns[draw.IntN(len(patterns))], verbs...))
		}
	}
	if verbs := pick(agent.ClusterVerbs()); len(verbs) > 0 {
		grants = append(grants, agent.Grant{Verbs: verbs})
	}
	if len(grants) == 0 {
		grants = []agent.Grant{on("mine", agent.VerbRead)}
	}
	return grants
}

// may is the model: it reads the grants without the code of package access.
func may(grants []agent.Grant, verb, scope string) bool {
	return slices.ContainsFunc(grants, func(g agent.Grant) bool {
		return slices.Contains(g.Verbs, agent.Verb(verb)) && (strings.Contains(verb, ":") || slices.ContainsFunc(g.Scopes, func(p string) bool {
			return p == scope || strings.HasSuffix(p, "*") && strings.HasPrefix(scope, p[:len(p)-1])
		}))
	})
}

// statusOf sends a request and returns its status and, unless it was served, its body. A stream that
// was served is not read.
func (a *target) statusOf(o operation, scope, token string) (status int, body string) {
	a.Helper()
	ctx, cancel := context.WithTimeout(a.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, o.method, "http://"+a.node.HTTPAddr()+o.path, strings.NewReader(o.content()))
	if err != nil {
		a.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Dormouse-Scope", scope)
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		a.Fatalf("%s: %v", o.id, err)
	}
	defer answer.Body.Close() //nolint:errcheck // it is read as far as it matters
	if answer.StatusCode < 300 {
		return answer.StatusCode, ""
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		a.Fatalf("%s: %v", o.id, err)
	}
	return answer.StatusCode, string(raw)
}

// FuzzPrincipals calls operations as random principals. A call is forbidden exactly if the model
// says so, and what is forbidden shows no data.
func FuzzPrincipals(f *testing.F) {
	for seed := range uint64(24) {
		f.Add(seed)
	}
	n, err := nodetest.Open(nodetest.Options{Auth: true, Loopback: true, Client: client.Options{Timeout: time.Minute}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = n.Close() })
	f.Fuzz(func(t *testing.T, seed uint64) {
		a := &target{t, n}
		draw := rand.New(rand.NewPCG(seed, 1))
		for _, scope := range []string{"mine", "theirs", "team-1"} { // earlier calls may have deleted it
			if _, err := n.Commit(t.Context(), agent.Commit{Scope: scope, Ops: []agent.Op{&agent.PutValue{Key: "x", Bytes: []byte(secretData)}}}); err != nil {
				t.Fatal(err)
			}
		}
		grants := drawGrants(draw)
		id, token := a.token(fmt.Sprintf("p%d-%d", seed, time.Now().UnixNano()), time.Hour, grants...)
		defer func() {
			if _, err := n.RevokeToken(context.WithoutCancel(t.Context()), id); err != nil {
				t.Error(err)
			}
		}()
		all := a.operations()
		slices.SortFunc(all, func(x, y operation) int { return strings.Compare(x.id, y.id) })
		for range 30 {
			o := all[draw.IntN(len(all))]
			if o.open || o.id == "get-metrics" || len(o.verbs) == 0 {
				continue // the verbs of commits and reads are those of their ops
			}
			scope := []string{"mine", "theirs", "team-1", "else"}[draw.IntN(4)]
			at := scope
			if strings.HasPrefix(o.path, "/v1/scopes/theirs") {
				at = "theirs"
			}
			allowed := true
			for _, verb := range o.verbs {
				allowed = allowed && may(grants, verb, at)
			}
			status, body := a.statusOf(o, scope, token)
			if (status != http.StatusForbidden) != allowed || status == http.StatusUnauthorized {
				t.Errorf("%s in %s: %d %.200s; the model says allowed: %v, of %v", o.id, at, status, body, allowed, grants)
			}
			if !allowed && strings.Contains(body, secretData) {
				t.Errorf("%s in %s shows data: %s", o.id, at, body)
			}
		}
	})
}
