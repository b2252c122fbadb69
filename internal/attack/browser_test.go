package attack

import (
	"net/http"
	"strings"
	"testing"

	"dormouse/config"
)

// send sends a request with headers, a line each as "Name: value", and returns the
// status.
func send(t *testing.T, method, url, body string, headers ...string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close() // only the status is needed
	return answer.StatusCode
}

// A page of another site that points its own name at this node (DNS rebinding) reads
// and writes nothing, and no page of another site can use a browser to call the node.
func TestABrowserIsNoWayIn(t *testing.T) {
	n := startNode(t, func(c *config.Config) { c.HTTP.Hosts = []string{"agents.example.com"} })
	addr, _ := n.Addrs()
	base := "http://" + addr
	const doc = "Content-Type: application/json"
	for _, path := range []string{"/v1/threads", "/v1/cluster", "/v1/cluster/backup", "/v1/changes", "/metrics", "/openapi.json"} {
		for _, header := range []string{"Host: evil.example", "Host: 127.0.0.1.evil.example:7600", "Sec-Fetch-Site: cross-site"} {
			if status := send(t, "GET", base+path, "", header); status != http.StatusForbidden {
				t.Errorf("GET %s with %s: %d, want 403", path, header, status)
			}
		}
	}
	for _, c := range []struct {
		want    int
		headers []string
	}{
		{403, []string{doc, "Host: evil.example"}},
		{403, []string{doc, "Sec-Fetch-Site: cross-site"}},
		{403, []string{doc, "Sec-Fetch-Site: same-site"}},
		{403, []string{doc, "Origin: http://evil.example"}},
		{415, nil}, // as a form of another site could send it
		{415, []string{"Content-Type: text/plain"}},
		{415, []string{"Content-Type: application/x-www-form-urlencoded"}},
		{201, []string{doc}},
		{201, []string{doc, "Host: agents.example.com"}},
		{201, []string{doc, "Host: localhost"}},
	} {
		if status := send(t, "POST", base+"/v1/threads", "{}", c.headers...); status != c.want {
			t.Errorf("POST with %v: %d, want %d", c.headers, status, c.want)
		}
	}
}
