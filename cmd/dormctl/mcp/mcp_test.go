package mcp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/memstore"
)

// process is one process that serves a scope over HTTP.
type process struct {
	*httptest.Server
	handler *handler
	own     *server
	bearer  string // the token that message sends; "" means none
}

func startProcess(t *testing.T, service agent.Service, more ...func(*sdk.Server)) *process {
	t.Helper()
	s := store{service, "acme"}
	own := newServer(backgroundOf(t.Context()), s, rand.Text)
	for _, add := range more {
		add(own.Server)
	}
	h := newHandler(s, func(*http.Request) *server { return own })
	own.AddReceivingMiddleware(h.remember)
	p := &process{Server: httptest.NewServer(h), handler: h, own: own}
	t.Cleanup(p.Close)
	return p
}

// connect returns a session of the SDK's client.
func connect(t *testing.T, url string, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).
		Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// call calls a tool, and returns its structured content.
func call(t *testing.T, session *sdk.ClientSession, tool string, arguments any) map[string]any {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil || result.IsError {
		t.Fatalf("%s: %+v, %v", tool, texts(result), err)
	}
	content, ok := result.StructuredContent.(map[string]any)
	if !ok {
		t.Fatalf("%s: the structured content is a %T", tool, result.StructuredContent)
	}
	return content
}

func texts(r *sdk.CallToolResult) (all []string) {
	if r == nil {
		return nil
	}
	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			all = append(all, text.Text)
		}
	}
	return all
}

func TestToolsReadAndWriteTheScope(t *testing.T) {
	service := memstore.New()
	session := connect(t, startProcess(t, service).URL, nil)
	written := call(t, session, "memory_write", map[string]any{"agent": "ada", "content": "likes tea", "tags": []string{"taste"}})
	recalled := call(t, session, "memory_recall", map[string]any{"agent": "ada", "query": "tea"})
	if items := recalled["items"].([]any); len(items) != 1 {
		t.Errorf("recalled: %v", recalled)
	}
	call(t, session, "memory_write", map[string]any{"agent": "ada", "content": "tea at noon", "session": "s1"})
	for within, want := range map[string]int{"": 2, "s1": 2, "s2": 1} {
		for _, query := range []string{"", "tea"} {
			got := call(t, session, "memory_recall", map[string]any{"agent": "ada", "query": query, "session": within})
			if items := got["items"].([]any); len(items) != want {
				t.Errorf("recalled %q within session %q: %v", query, within, got)
			}
		}
	}
	if got := call(t, session, "memory_get", map[string]any{"agent": "ada", "id": written["id"]}); got["content"] != "likes tea" {
		t.Errorf("the memory: %v", got)
	}
	call(t, session, "memory_delete", map[string]any{"agent": "ada", "id": written["id"]})

	big := json.RawMessage(`{"n":18446744073709551615}`)
	appended := call(t, session, "thread_append", map[string]any{"thread": "chat/1", "entries": []any{map[string]any{"kind": "message", "payload": big}}})
	if appended["rev"] != 1.0 {
		t.Errorf("appended: %v", appended)
	}
	read, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "thread_read", Arguments: map[string]any{"thread": "chat/1", "tail": 1}})
	if err != nil || !strings.Contains(texts(read)[0], string(big)) {
		t.Errorf("read: %v, %v", texts(read), err)
	}
	if got := call(t, session, "thread_list", map[string]any{"prefix": "chat/"}); len(got["items"].([]any)) != 1 {
		t.Errorf("threads: %v", got)
	}

	if _, err := service.Commit(t.Context(), agent.Commit{Scope: "acme", Ops: []agent.Op{&agent.PutSession{Session: "s1", Agent: "ada"}}}); err != nil {
		t.Fatal(err)
	}
	for _, decision := range []agent.ReviewDecision{agent.DecideApprove, agent.DecideDeny, agent.DecideEdit} {
		arguments := map[string]any{"review": "none", "decision": string(decision), "by": "ada"}
		if decision == agent.DecideEdit {
			arguments["arguments"] = json.RawMessage(`{"n":1}`)
		}
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "review_decide", Arguments: arguments})
		if err != nil || !strings.Contains(texts(result)[0], string(agent.CodeNotFound)) {
			t.Errorf("%s: %v, %v", decision, texts(result), err)
		}
	}
	if got := call(t, session, "session_get", map[string]any{"session": "s1"}); got["id"] != "s1" {
		t.Errorf("the session: %v", got)
	}
	if got := call(t, session, "session_list", map[string]any{}); len(got["items"].([]any)) != 1 {
		t.Errorf("sessions: %v", got)
	}
	if got := call(t, session, "review_list", map[string]any{}); len(got["items"].([]any)) != 0 {
		t.Errorf("reviews: %v", got)
	}
}

// A refusal of the store is the tool's error, which the model reads.
func TestARefusalIsTheToolsError(t *testing.T) {
	session := connect(t, startProcess(t, memstore.New()).URL, nil)
	for tool, arguments := range map[string]any{
		"thread_read":   map[string]any{"thread": "none"},
		"thread_append": map[string]any{"thread": "t", "entries": []any{map[string]any{"payload": 7}}},
		"review_decide": map[string]any{"review": "none", "decision": "approve", "by": "ada"},
		"memory_get":    map[string]any{"agent": "a", "id": "none"},
	} {
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil || !result.IsError || len(texts(result)) == 0 {
			t.Errorf("%s: %+v, %v", tool, result, err)
		}
	}
}

func TestResourcesAreReadCompletedAndWatched(t *testing.T) {
	service := memstore.New()
	changed := make(chan string, 16)
	session := connect(t, startProcess(t, service).URL, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { changed <- r.Params.URI },
	})
	write := func() {
		t.Helper()
		ops := []agent.Op{
			&agent.AppendThread{Thread: "chat/ä 1", Entries: []agent.Draft{{Kind: "message"}}},
			&agent.WriteMemory{Agent: "ada", ID: "m1", Content: "tea"},
		}
		if _, err := service.Commit(t.Context(), agent.Commit{Scope: "acme", Ops: ops}); err != nil {
			t.Fatal(err)
		}
	}
	write()
	const thread = threadURI + "chat%2F%C3%A4%201"
	for _, uri := range []string{thread, memoryURI + "ada/m1"} {
		got, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil || len(got.Contents) != 1 || !json.Valid([]byte(got.Contents[0].Text)) {
			t.Errorf("%s: %+v, %v", uri, got, err)
		}
	}
	if _, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: threadURI + "none"}); err == nil {
		t.Error("a missing thread is read")
	}
	completed, err := session.Complete(t.Context(), &sdk.CompleteParams{
		Ref: &sdk.CompleteReference{Type: "ref/resource", URI: threadURI + "{id}"}, Argument: sdk.CompleteParamsArgument{Name: "id", Value: "ch"},
	})
	if err != nil || len(completed.Completion.Values) != 1 || completed.Completion.Values[0] != "chat/ä 1" {
		t.Errorf("completed: %+v, %v", completed, err)
	}
	if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: thread}); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(10 * time.Second)
	for came := false; !came; { // the watch begins a moment after the answer
		write()
		select {
		case uri := <-changed:
			came = uri == thread
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			t.Fatal("no notification came")
		}
	}
	if err := session.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: thread}); err != nil {
		t.Fatal(err)
	}
}

// breaking is a store whose watches end: the first few at once, one of those that a caller may not make.
type breaking struct {
	agent.Service
	ends    atomic.Int32
	forbids bool
}

func (b *breaking) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	if b.ends.Add(-1) < 0 {
		return b.Service.Watch(ctx, w)
	}
	return func(yield func(agent.Event, error) bool) {
		if b.forbids {
			yield(agent.Event{}, agent.Errorf(agent.CodeForbidden, "no"))
		}
	}
}

// A watch that ends begins again, and its client is told that the resource may have changed once the new one stands. One that its
// caller may not make ends the subscription.
func TestAWatchThatEndsBeginsAgain(t *testing.T) {
	b := &breaking{Service: memstore.New()}
	b.ends.Store(3)
	changed := make(chan string, 16)
	session := connect(t, startProcess(t, b).URL, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { changed <- r.Params.URI },
	})
	if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: threadURI + "t"}); err != nil {
		t.Fatal(err)
	}
	if uri := <-changed; uri != threadURI+"t" {
		t.Errorf("%s changed", uri)
	}
	// The notification came once the new watch stood: it misses no change.
	if _, err := b.Commit(t.Context(), agent.Commit{Scope: "acme", Ops: []agent.Op{&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Kind: "message"}}}}}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	case <-time.After(10 * time.Second):
		t.Error("a change after the notification was missed")
	}

	forbids := &breaking{Service: memstore.New(), forbids: true}
	forbids.ends.Store(1)
	p := startProcess(t, forbids)
	session = connect(t, p.URL, nil)
	if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: threadURI + "t"}); err != nil {
		t.Fatal(err)
	}
	for active := true; active; time.Sleep(5 * time.Millisecond) {
		p.own.watched.mu.Lock()
		active = len(p.own.watched.active) > 0
		p.own.watched.mu.Unlock()
	}
}

// A session that ends without unsubscribing leaves no watch behind.
func TestTheSubscriptionsOfASessionEndWithIt(t *testing.T) {
	p := startProcess(t, memstore.New())
	session := connect(t, p.URL, nil)
	if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: threadURI + "t"}); err != nil {
		t.Fatal(err)
	}
	active := func() int {
		p.own.watched.mu.Lock()
		defer p.own.watched.mu.Unlock()
		return len(p.own.watched.active) + len(p.own.watched.sessions)
	}
	if active() != 2 {
		t.Fatalf("%d subscriptions and sessions, want one each", active())
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); active() > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("its subscription has outlived it")
		}
	}
}

// message sends a message to a process, and returns its answer.
func (p *process) message(t *testing.T, session, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", jsonType)
	r.Header.Set("Accept", jsonType+", text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	if p.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+p.bearer)
	}
	if session != "" {
		r.Header.Set(headerSession, session)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// event is one server-sent event.
type event struct{ id, data string }

// eventsOf reads server-sent events until the stream ends, or until one has data that contains end.
func eventsOf(t *testing.T, answer *http.Response, end string) (all []event) {
	t.Helper()
	var one event
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "id: "):
			one.id = line[4:]
		case strings.HasPrefix(line, "data: "):
			one.data = line[6:]
		case line == "" && one != (event{}):
			all = append(all, one)
			if end != "" && strings.Contains(one.data, end) {
				return all
			}
			one = event{}
		}
	}
	return all
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// A client continues its session, and reads again what it was sent, through another process after the
// one that it used has died.
func TestASessionIsResumedThroughAnotherProcess(t *testing.T) {
	service := memstore.New()
	first := startProcess(t, service)
	began := first.message(t, "", initialize)
	session := began.Header.Get(headerSession)
	if session == "" || began.StatusCode != http.StatusOK {
		t.Fatalf("the session did not begin: %s", began.Status)
	}
	eventsOf(t, began, `"id":1`)
	first.message(t, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	sent := eventsOf(t, first.message(t, session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"thread_append","arguments":{"thread":"t","entries":[{}]}}}`), `"id":2`)
	if len(sent) == 0 || sent[0].id == "" {
		t.Fatalf("the call was answered with %+v", sent)
	}
	first.Close()

	second := startProcess(t, service)
	read := eventsOf(t, second.message(t, session, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"thread_read","arguments":{"thread":"t"}}}`), `"id":3`)
	if last := read[len(read)-1]; !strings.Contains(last.data, `"rev":1`) {
		t.Errorf("through the second process: %+v", read)
	}
	// What the first process sent is sent again, from the event after the one that the client has.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, second.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, _, _ := strings.Cut(sent[len(sent)-1].id, "_")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	r.Header.Set(headerSession, session)
	r.Header.Set("Last-Event-ID", stream+"_0")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	again := eventsOf(t, answer, `"id":2`)
	if answer.StatusCode != http.StatusOK || len(again) == 0 || !strings.Contains(again[len(again)-1].data, `"id":2`) {
		t.Errorf("resumed: %s, %+v", answer.Status, again)
	}

	// A session that ends leaves nothing behind.
	end, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, second.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	end.Header.Set(headerSession, session)
	ended, err := http.DefaultClient.Do(end)
	if err != nil || ended.StatusCode != http.StatusNoContent {
		t.Fatalf("end the session: %v, %v", ended, err)
	}
	_ = ended.Body.Close()
	s := store{service, "acme"}
	left, err := find[*agent.ThreadList](t.Context(), s, &agent.ListThreads{Page: agent.Page{Prefix: "mcp/"}})
	if err != nil || len(left.Items) != 0 {
		t.Errorf("threads are left: %+v, %v", left, err)
	}
	if got := second.message(t, session, `{"jsonrpc":"2.0","id":4,"method":"ping"}`); got.StatusCode != http.StatusNotFound {
		t.Errorf("the session that ended: %s", got.Status)
	}
}

// tokenCluster is a connection of a principal.
type tokenCluster struct {
	agent.Service
	name string
}

func (c *tokenCluster) Close() error { return nil }

func (c *tokenCluster) WhoAmI(context.Context) (access.Principal, error) {
	if c.name == "" {
		return access.Principal{}, agent.Errorf(agent.CodeUnauthenticated, "there is no such token")
	}
	scope := "acme"
	if c.name == "outsider" {
		scope = "other"
	}
	return access.Principal{Name: c.name, Grants: []agent.Grant{{Scopes: []string{scope}, Verbs: []agent.Verb{agent.VerbRead}}}}, nil
}

// A caller acts with the rights of its own token, and a session is only of who began it.
func TestCallersGiveTokensOfTheirOwn(t *testing.T) {
	service := memstore.New()
	f := &flags{listen: "127.0.0.1:0", tokens: true}
	start := func() *process {
		s := store{service, "acme"}
		served, end := f.handlerOf(backgroundOf(t.Context()), s, func(token string) (Cluster, error) {
			if strings.HasPrefix(token, "broken") {
				return nil, errors.New("no connection")
			}
			name, _ := strings.CutPrefix(token, "token-")
			if name == token {
				name = ""
			}
			return &tokenCluster{service, name}, nil
		})
		p := &process{Server: httptest.NewServer(served)}
		t.Cleanup(func() { p.Close(); end() })
		return p
	}
	first, second := start(), start()
	as := func(p *process, token, session, body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL, bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", jsonType)
		r.Header.Set("Accept", jsonType+", text/event-stream")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		if session != "" {
			r.Header.Set(headerSession, session)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer
	}
	for token, want := range map[string]int{"": http.StatusUnauthorized, "wrong": http.StatusUnauthorized, "broken": http.StatusInternalServerError} {
		if got := as(first, token, "", initialize); got.StatusCode != want {
			t.Errorf("token %q: %s, want %d", token, got.Status, want)
		}
	}
	// dormctl would keep the session with its own rights.
	if got := as(first, "token-outsider", "", initialize); got.StatusCode != http.StatusForbidden {
		t.Errorf("a token without rights in the scope: %s", got.Status)
	}
	if found, err := find[*agent.ValueList](t.Context(), store{service, "acme"}, &agent.ListValues{}); err != nil || len(found.Items) != 0 {
		t.Errorf("%d values were stored: %v", len(found.Items), err)
	}
	began := as(first, "token-ada", "", initialize)
	session := began.Header.Get(headerSession)
	eventsOf(t, began, `"id":1`)
	ping := func(n int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, n) }
	if got := as(first, "token-ada", session, ping(1)); got.StatusCode != http.StatusOK {
		t.Errorf("ada's own session: %s", got.Status)
	}
	if got := as(first, "token-bob", session, ping(2)); got.StatusCode != http.StatusForbidden {
		t.Errorf("bob in ada's session: %s", got.Status)
	}
	if got := as(second, "token-bob", session, ping(3)); got.StatusCode != http.StatusNotFound {
		t.Errorf("bob takes over ada's session: %s", got.Status)
	}
	if got := as(second, "token-ada", session, ping(4)); got.StatusCode != http.StatusOK {
		t.Errorf("ada takes over her session: %s", got.Status)
	}
}

func TestFlagsThatDoNotGoTogetherAreRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		f    flags
		ok   bool
	}{
		{"stdio", flags{}, true},
		{"loopback", flags{listen: "127.0.0.1:7605"}, true},
		{"tokens over stdio", flags{tokens: true}, false},
		{"half a certificate", flags{listen: "127.0.0.1:7605", certFile: "c"}, false},
		{"off loopback", flags{listen: "0.0.0.0:7605"}, false},
		{"off loopback with tokens alone", flags{listen: "0.0.0.0:7605", tokens: true}, false},
		{"off loopback with both", flags{listen: "0.0.0.0:7605", tokens: true, certFile: "c", keyFile: "k"}, true},
		{"a name", flags{listen: "localhost:7605"}, false},
	} {
		if err := c.f.check(); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
