package httpclient_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/jepsen/httpclient"
	"dormouse/server/rest"
)

// TestANodeWithoutIncarnationsIsAskedAgain reads from a node of a version whose calls of one read do not name the
// incarnation, as runs on mixed versions do.
func TestANodeWithoutIncarnationsIsAskedAgain(t *testing.T) {
	store := memstore.New()
	handler, err := rest.New(store, operator{}, rest.Options{Node: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			asked++
			handler.ServeHTTP(w, r)
			return
		}
		told := httptest.NewRecorder()
		handler.ServeHTTP(told, r)
		for name, values := range told.Header() {
			if name != "Dormouse-Incarnation" {
				w.Header()[name] = values
			}
		}
		w.Header().Del("Content-Length")
		w.WriteHeader(told.Code)
		_, _ = w.Write(regexp.MustCompile(`"incarnation":\d+,`).ReplaceAll(told.Body.Bytes(), nil))
	}))
	defer server.Close()
	c := httpclient.New(httpclient.Options{URLs: func() []string { return []string{server.URL} }, ID: "c", Transport: &http.Transport{}})
	defer c.Close() //nolint:errcheck // there are no calls
	if _, err := store.Commit(t.Context(), agent.Commit{Scope: "s", Ops: []agent.Op{
		&agent.PutValue{Key: "k", Bytes: []byte("v")}, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "x"}}},
	}}); err != nil {
		t.Fatal(err)
	}
	for _, read := range []agent.Read{&agent.GetValue{Key: "k"}, &agent.LoadEntries{Thread: "t"}} {
		compare(t, c, store, read)
		compare(t, c, store, read)
	}
	if asked != 4 {
		t.Errorf("the node got %d calls of POST /v1/reads, want 4: each read alone is followed by one", asked)
	}
}
