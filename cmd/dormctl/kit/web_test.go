package kit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dormouse/cmd/dormctl/kit"
)

// The node gives up after 10 s unless the question says more.
func TestAQuestionToANodeSaysHowLongItMayTake(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Header.Get("Dormouse-Timeout-Ms"))
	}))
	defer server.Close()
	web, err := kit.NewWeb(&kit.App{Endpoints: kit.EndpointsDefault, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	for timeout, want := range map[time.Duration]string{kit.AskTimeout: "5000", 90 * time.Second: "90000", 10 * time.Minute: "600000"} {
		if got, err := web.GetFor(t.Context(), strings.TrimPrefix(server.URL, "http://"), "/v1/cluster/profile", timeout); err != nil || string(got) != want {
			t.Errorf("%v: the node is told %q, want %q: %v", timeout, got, want, err)
		}
	}
}
