package rest_test

import (
	"net/http"
	"testing"

	"dormouse/server/rest"
)

// An answer names its cluster, and a request that names another one is refused before it has any
// effect.
func TestARequestForAnotherClusterIsRefused(t *testing.T) {
	k := newKitWith(t, rest.Options{ClusterID: func() string { return "c1" }})
	for wanted, status := range map[string]int{"": http.StatusOK, "c1": http.StatusOK, "c2": http.StatusServiceUnavailable} {
		var headers []string
		if wanted != "" {
			headers = []string{"Dormouse-Cluster: " + wanted}
		}
		got := k.call("GET", "/v1/threads", "", headers...)
		if got.Code != status {
			t.Errorf("for cluster %q: %d %s", wanted, got.Code, got.Body)
		}
		if id := got.Header().Get("Dormouse-Cluster"); id != "c1" {
			t.Errorf("the answer names cluster %q", id)
		}
	}
}
