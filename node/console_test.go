package node_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/config"
	"dormouse/node/nodetest"
)

// getPath calls a path of a node's HTTP API with a token, and returns the status and the body.
func getPath(t *testing.T, n *nodetest.Node, path, token string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+n.HTTPAddr()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// The console's pages need no token, since they hold no data, and a setting turns them off.
func TestTheConsoleIsServedUnlessItIsOff(t *testing.T) {
	on := nodetest.StartWith(t, nodetest.Options{Loopback: true, Auth: true})
	for _, path := range []string{"/", "/ui/", "/ui/agents"} {
		if status, body := getPath(t, on, path, ""); status != http.StatusOK || !strings.Contains(body, "<title>Dormouse</title>") {
			t.Errorf("%s answers %d %.100s", path, status, body)
		}
	}
	if status, _ := getPath(t, on, "/v1/cluster", ""); status != http.StatusUnauthorized {
		t.Errorf("the data beside it answers %d without a token", status)
	}
	off := nodetest.StartWith(t, nodetest.Options{Loopback: true, Configure: func(c *config.Config) { c.HTTP.Console = false }})
	for _, path := range []string{"/", "/ui/", "/ui/agents"} {
		if status, _ := getPath(t, off, path, ""); status != http.StatusNotFound {
			t.Errorf("%s answers %d although http.console is false", path, status)
		}
	}
}

func TestTheHistoryCountsTheCallsOfTheServers(t *testing.T) {
	n := nodetest.StartWith(t, nodetest.Options{Loopback: true})
	for range 3 {
		if _, err := n.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := n.Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "k"}}}); err != nil {
		t.Fatal(err)
	}
	status, body := getPath(t, n, "/v1/cluster/history", "")
	var found struct {
		Node          string
		Writes, Reads struct{ Calls, P99US []uint64 }
	}
	if err := json.Unmarshal([]byte(body), &found); status != http.StatusOK || err != nil {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	sum := func(calls []uint64) (all uint64) {
		for _, c := range calls {
			all += c
		}
		return all
	}
	if sum(found.Writes.Calls) != 3 || sum(found.Reads.Calls) != 1 || found.Node == "" {
		t.Errorf("3 writes and a read are %s", body)
	}
}
