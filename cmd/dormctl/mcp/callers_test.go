package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"dormouse/agent"
	"dormouse/agent/memstore"
)

// closable is a connection that serves nothing once it is closed, and notes which token its commits had.
type closable struct {
	tokenCluster

	token  string
	closed atomic.Bool
	seen   *sync.Map // :: token → true
}

func (c *closable) Close() error {
	c.closed.Store(true)
	return nil
}

func (c *closable) Commit(ctx context.Context, commit agent.Commit) (agent.Result, error) {
	if c.closed.Load() {
		return agent.Result{}, agent.Errorf(agent.CodeUnavailable, "the client is closed")
	}
	c.seen.Store(c.token, true)
	return c.Service.Commit(ctx, commit)
}

// Each call of a session has the rights of the token that comes with it, not those of the token that began the session:
// a principal's other token may have fewer, and the first may have been revoked. A session also outlives its connection,
// which is closed once enough other tokens were used since.
func TestACallHasTheRightsOfItsOwnToken(t *testing.T) {
	service, seen := memstore.New(), &sync.Map{}
	f := &flags{listen: "127.0.0.1:0", tokens: true}
	served, end := f.handlerOf(backgroundOf(t.Context()), store{service, "acme"}, func(token string) (Cluster, error) {
		if token == "malformed" {
			return nil, fmt.Errorf("dial: %w", agent.Errorf(agent.CodeUnauthenticated, "the token does not begin with dorm_"))
		}
		name, _, _ := strings.Cut(token, "-")
		return &closable{tokenCluster: tokenCluster{service, name}, token: token, seen: seen}, nil
	})
	p := &process{Server: httptest.NewServer(served)}
	t.Cleanup(func() { p.Close(); end() })
	as := func(token, session, body string) string {
		t.Helper()
		p.bearer = token
		answer := p.message(t, session, body)
		if session == "" {
			eventsOf(t, answer, "")
			return answer.Header.Get(headerSession)
		}
		all := eventsOf(t, answer, "")
		return all[len(all)-1].data
	}
	appendTo := func(thread string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"thread_append","arguments":{"thread":%q,"entries":[{"kind":"note"}]}}}`, thread)
	}
	session := as("ada-1", "", initialize)
	if got := as("ada-2", session, appendTo("t")); strings.Contains(got, `"isError":true`) {
		t.Fatal(got)
	}
	if _, old := seen.Load("ada-1"); old {
		t.Error("the call was made with the token that began the session")
	}
	if _, own := seen.Load("ada-2"); !own {
		t.Error("the call was not made with its own token")
	}
	for i := range callersMax {
		as(fmt.Sprintf("bob-%d", i), "", initialize)
	}
	if got := as("ada-1", session, appendTo("t")); strings.Contains(got, `"isError":true`) {
		t.Errorf("after other callers: %s", got)
	}
	p.bearer = "malformed"
	if got := p.message(t, "", initialize); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("a malformed token: %s", got.Status)
	}
}
