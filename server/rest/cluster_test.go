package rest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/server/rest"
)

func TestTheClusterIsShownAndChanged(t *testing.T) {
	k := newKit(t)
	got := k.call("GET", "/v1/cluster", "")
	members := got.ok(200)
	got.want(members, map[string]any{"cluster_id": "c1", "leader": "n1", "term": 3.0, "commit_index": 8.0, "applied_index": 7.0, "chain": "0000beef"})
	member := members["members"].([]any)[0].(map[string]any)
	got.want(member, map[string]any{"id": "n1", "voter": true, "status": "alive", "applied_index": 7.0})
	if member["addresses"].(map[string]any)["http"] != "127.0.0.1:7600" || got.Header().Get("Dormouse-Index") != "7" {
		t.Errorf("it is %s, index %s", got.Body, got.Header().Get("Dormouse-Index"))
	}
	var asked string
	k.fake.onChange = func(change layout.Change, node string) error {
		asked = fmt.Sprintf("%s %s", change, node)
		return nil
	}
	for _, change := range []string{"leave", "transfer", "promote", "demote"} {
		got := k.call("POST", "/v1/cluster/"+change, `{"node":"n3"}`)
		got.want(got.ok(200), map[string]any{"leader": "n2"})
		if asked != change+" n3" {
			t.Errorf("%s asked for %s", change, asked)
		}
	}
	k.call("POST", "/v1/cluster/transfer", "").ok(200)
	k.call("POST", "/v1/cluster/leave", "").problem(400, "invalid")
	k.call("POST", "/v1/cluster/leave", "{}").problem(400, "invalid")
	k.call("POST", "/v1/cluster/explode", "{}").problem(404, "not_found")
	k.fake.onChange = func(layout.Change, string) error { return agent.Errorf(agent.CodeUnavailable, "no leader") }
	k.call("POST", "/v1/cluster/promote", `{"node":"n3"}`).problem(503, "unavailable")
	k.fake.onChange = func(layout.Change, string) error { return agent.Errorf(agent.CodeConflict, "the last voter") }
	if refused := k.call("POST", "/v1/cluster/demote", `{"node":"n3"}`).problem(409, "conflict"); refused["rev"] != nil || refused["head"] != nil {
		t.Errorf("a change of members speaks of a thread: %v", refused)
	}
}

func TestABackupIsWholeOrVisiblyTorn(t *testing.T) {
	k := newKit(t)
	served := httptest.NewUnstartedServer(nil)
	served.Config = rest.Server(k.handler)
	served.Start()
	defer served.Close()
	fetch := func() (status int, body string, err error) {
		t.Helper()
		response, err := http.Get(served.URL + "/v1/cluster/backup")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close() //nolint:errcheck // it is only read
		all, err := io.ReadAll(response.Body)
		return response.StatusCode, string(all), err
	}
	if status, body, err := fetch(); status != 200 || body != "a whole store" || err != nil {
		t.Errorf("%d %q %v", status, body, err)
	}
	k.fake.onBackup = func(w io.Writer) error {
		if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
			return err
		}
		return errors.New("the disk broke")
	}
	if _, body, err := fetch(); err == nil {
		t.Errorf("a torn backup of %d bytes looks whole", len(body))
	}
	k.fake.onBackup = func(io.Writer) error { return agent.Errorf(agent.CodeUnavailable, "no leader") }
	if status, body, err := fetch(); status != 503 || !strings.Contains(body, `"code":"unavailable"`) || err != nil {
		t.Errorf("%d %q %v", status, body, err)
	}
}

func TestProbesAndMetrics(t *testing.T) {
	why := errors.New("no leader for 3 s")
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") })
	observed := map[string]int{}
	k := newKitWith(t, rest.Options{
		Ready:   func() error { return why },
		Metrics: metrics,
		Observe: func(_ context.Context, operation string, status int, _ time.Duration) { observed[operation] = status },
	})
	k.call("GET", "/livez", "").ok(200)
	got := k.call("GET", "/readyz", "")
	if detail := got.problem(503, "unavailable")["detail"].(string); !strings.Contains(detail, "no leader for 3 s") {
		t.Errorf("it says %q", detail)
	}
	why = nil
	k.call("GET", "/readyz", "").ok(200)
	k.call("HEAD", "/readyz", "").ok(200)
	if got := k.call("GET", "/metrics", ""); got.Code != 200 || got.Body.String() != "up 1\n" {
		t.Errorf("%d %q", got.Code, got.Body)
	}
	k.call("GET", "/nowhere", "").problem(404, "not_found")
	for operation, status := range map[string]int{"get-livez": 200, "get-readyz": 200, "get-metrics": 200, "": 404} {
		if observed[operation] != status {
			t.Errorf("%q was observed as %d", operation, observed[operation])
		}
	}
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	k := newKit(t)
	k.call("PUT", "/v1/checkpoints/a", `{"state":{}}`).ok(201)
	served := httptest.NewServer(k.handler)
	defer served.Close()
	get, err := http.Get(served.URL + "/v1/checkpoints/a")
	if err != nil {
		t.Fatal(err)
	}
	defer get.Body.Close() //nolint:errcheck // only its headers matter
	head, err := http.Head(served.URL + "/v1/checkpoints/a")
	if err != nil {
		t.Fatal(err)
	}
	defer head.Body.Close() //nolint:errcheck // it has none
	for _, name := range []string{"ETag", "Content-Type", "Content-Length", "Dormouse-Index"} {
		if head.Header.Get(name) != get.Header.Get(name) || get.Header.Get(name) == "" {
			t.Errorf("%s is %q on HEAD, %q on GET", name, head.Header.Get(name), get.Header.Get(name))
		}
	}
}
