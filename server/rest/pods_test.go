package rest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"dormouse/agent"
	"dormouse/instance/pod/podtest"
	"dormouse/node/nodetest"
)

// podFront is the API of a real node.
type podFront struct {
	*testing.T
	url string
	web *http.Client
}

func newPodFront(t *testing.T) *podFront {
	t.Helper()
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true, Handlers: podtest.Handlers()})
	for _, m := range []agent.Manager{
		{Name: "teams", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "pod"}},
		{Name: "agents", Handler: agent.Handler{Kind: agent.HandlerDocument}},
		{Name: "picky", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "podtest"}},
	} {
		if _, err := n.PutManager(t.Context(), agent.PutManager{Manager: m}); err != nil {
			t.Fatal(err)
		}
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &podFront{T: t, url: "http://" + n.HTTPAddr() + "/v1/pods/teams/", web: &http.Client{Transport: transport}}
}

// call makes a request, checks the status, and returns the answer.
func (f *podFront) call(status int, method, path, body string, headers ...string) map[string]any {
	f.Helper()
	r, err := http.NewRequestWithContext(f.Context(), method, f.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		f.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := f.web.Do(r)
	if err != nil {
		f.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		f.Fatal(err)
	}
	if answer.StatusCode != status {
		f.Fatalf("%s %s: %d %s, want %d", method, path, answer.StatusCode, raw, status)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		f.Fatalf("%s: %v", raw, err)
	}
	return got
}

// at checks a member of an answer, at a path of names, as JSON.
func (f *podFront) at(got map[string]any, want string, path ...string) {
	f.Helper()
	var v any = got
	for _, name := range path {
		object, ok := v.(map[string]any)
		if !ok {
			f.Fatalf("%v is no object: no %q in it", v, name)
		}
		v = object[name]
	}
	raw, err := json.Marshal(v)
	if err != nil || string(raw) != want {
		f.Errorf("%v is %s, want %s", path, raw, want)
	}
}

const twoNodes = `{"topology":{"name":"t","nodes":{"boss":{"manager":"agents","activation":"eager"},"ann":{"manager":"agents"}},"links":[["owns","boss","ann"]]}}`

func TestAPodOverHTTP(t *testing.T) {
	f := newPodFront(t)
	f.at(f.call(404, "GET", "a%2Fb", ""), `"not_found"`, "code")
	got := f.call(201, "POST", "a%2Fb", twoNodes)
	f.at(got, `"a/b"`, "key")
	f.at(got, `"started"`, "report", "nodes", "boss", "source")
	f.at(f.call(200, "POST", "a%2Fb", ""), `"running"`, "report", "nodes", "boss", "source")

	f.at(f.call(200, "GET", "a%2Fb/nodes/ann", ""), `"stopped"`, "status")
	f.at(f.call(404, "GET", "a%2Fb/nodes/zoe", ""), `"not_found"`, "code")
	got = f.call(200, "POST", "a%2Fb/nodes/ann/ensure", `{"initial_state":{"n":1}}`)
	f.at(got, `"adopted"`, "node", "status")
	f.at(got, `{"key":"a/b","manager":"teams","node":"boss"}`, "node", "actual_parent")
	f.at(got, `[["boss"],["ann"]]`, "report", "waves")
	f.at(f.call(200, "POST", "a%2Fb/reconcile", `{"nodes":["ann"]}`), `["boss","ann"]`, "completed")
	if items := f.call(200, "GET", "a%2Fb/nodes", "")["items"].([]any); len(items) != 2 {
		t.Errorf("nodes: %v", items)
	}

	ops := `{"ops":[{"add_node":{"name":"bob","node":{"manager":"agents","activation":"eager"},"owner":"boss"}},{"remove_node":{"name":"ann"}}]}`
	for range 2 { // the second time it returns the same one
		got = f.call(200, "POST", "a%2Fb/mutate", ops, "Idempotency-Key", "m1")
		f.at(got, `2`, "topology_version")
		f.at(got, `["bob"]`, "started")
		f.at(got, `["ann"]`, "stopped")
	}
	f.at(f.call(200, "GET", "a%2Fb", ""), `"completed"`, "mutation", "status")

	f.at(f.call(200, "POST", "a%2Fb/fork", `{"key":"c"}`), `0`, "nodes") // none of them has stored anything
	f.at(f.call(409, "POST", "a%2Fb/fork", `{"key":"c"}`), `"already_exists"`, "code")
	f.at(f.call(200, "POST", "a%2Fb/hibernate", ""), `["bob","boss"]`, "stopped")
	f.at(f.call(200, "GET", "a%2Fb", ""), `"dormant"`, "status")
}

func TestWhatFailsInAPodIsAProblemWithItsReport(t *testing.T) {
	f := newPodFront(t)
	const bad = `{"manager":"picky","activation":"eager","initial_state":{"broken":true}}`
	got := f.call(409, "POST", "a", `{"topology":{"name":"t","nodes":{"x":`+bad+`}}}`)
	f.at(got, `"reconcile_failed"`, "code")
	f.at(got, `"thaw_failed"`, "reason")
	f.at(got, `"start"`, "report", "failures", "x", "stage")
	f.at(f.call(200, "GET", "a", ""), `"awake"`, "status") // it stays awake
	got = f.call(409, "POST", "a/mutate", `{"ops":[{"add_node":{"name":"y","node":`+bad+`}}]}`)
	f.at(got, `"mutation_failed"`, "code")
	f.at(got, `"failed"`, "report", "status")

	for body, field := range map[string]string{
		`{"topology":{"name":"t","nodes":{"a":{"manager":"agents"},"b":{"manager":"agents"}},"links":[["depends_on","a","b"],["depends_on","b","a"]]}}`: `"topology.links"`,
		`{"topology":{"name":"t","nodes":{"a":{}}}}`: `"topology.nodes.a.manager"`,
		`{}`: `"topology"`,
	} {
		got := f.call(400, "POST", "new", body)
		f.at(got, `"invalid"`, "code")
		f.at(got, field, "field")
	}
	f.at(f.call(400, "POST", "a/mutate", `{"ops":[{"remove_node":{"name":"x"}},{"remove_node":{"name":"x"}}]}`), `"ops"`, "field")
	f.at(f.call(400, "POST", "a/mutate", ""), `"body"`, "field")
}
