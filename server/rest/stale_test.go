package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"dormouse/server/rest"
)

// noReads are the GET calls that do not read the store or the cluster, and the streams.
var noReads = []string{
	"/livez", "/readyz", "/metrics", "/openapi.json", "/v1/cluster/backup", "/v1/cluster/log", "/v1/cluster/profile",
	"/v1/changes", "/v1/claims/{name}/watch", "/v1/threads/{id}/watch", "/v1/managers/{manager}/watch", "/v1/managers/{manager}/instances/{key}/watch",
}

// Every read is answered with its age, or with an error that is not about the parameter. New GET
// calls are tested automatically.
func TestStaleGoesWithEveryRead(t *testing.T) {
	_, doc := document(t)
	k := newKitWith(t, rest.Options{Node: "n1", Metrics: http.NotFoundHandler()})
	k.call("PUT", "/v1/checkpoints/key", `{"state":{}}`).ok(201)
	answered := 0
	for path, methods := range doc["paths"].(map[string]any) {
		if _, get := methods.(map[string]any)["get"]; !get || slices.Contains(noReads, path) {
			continue
		}
		url := strings.NewReplacer("{", "", "}", "").Replace(path) + "?stale=true"
		url = strings.Replace(url, "/files/path", "/files/%2Fpath", 1)
		if path == "/v1/memory" {
			url += "&agent_id=a"
		}
		got := k.call("GET", url, "")
		switch age := got.Header().Get("Dormouse-Age-Ms"); {
		case got.Code == 400 || got.Code >= 500 && got.Code != 503 && !strings.Contains(got.Body.String(), "the fake has no"):
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		case got.Code == 200 && age == "":
			t.Errorf("%s is answered without an age: %s", path, got.Body)
		case got.Code == 200:
			answered++
		}
		if got := k.call("GET", strings.Replace(url, "true", "perhaps", 1), ""); got.Code != 400 {
			t.Errorf("%s with stale=perhaps: %d %s", path, got.Code, got.Body)
		}
	}
	if answered < 10 {
		t.Errorf("%d calls were answered: the fake has too little", answered)
	}
}
