package httpclient_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/internal/memconn"
	"dormouse/jepsen/httpclient"
)

// node answers one request after the other from a list, and the last one again and again.
// "cut" breaks the connection, "half" does so within the answer.
type node struct {
	mu      sync.Mutex
	answers []string
	keys    map[string]int
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	answer := n.answers[0]
	if len(n.answers) > 1 {
		n.answers = n.answers[1:]
	}
	n.keys[r.Header.Get("Idempotency-Key")]++
	n.mu.Unlock()
	w.Header().Set("Dormouse-Index", "7")
	switch answer {
	case "cut":
		panic(http.ErrAbortHandler)
	case "half":
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"index":`))
	case "ok":
		_, _ = w.Write([]byte(`{"key":"k","incarnation":1,"revision":1,"index":7,"time":1,"results":[{"op":"put_value","incarnation":1,"revision":1}]}`))
	default:
		w.WriteHeader(codes[answer])
		_, _ = fmt.Fprintf(w, `{"code":%q,"detail":"d","revision":3}`, answer)
	}
}

var codes = map[string]int{"unknown": 504, "unavailable": 503, "overloaded": 429, "revision_mismatch": 409, "request_expired": 409, "invalid": 400, "unauthenticated": 401, "quota_exceeded": 403}

func TestOutcomesAreAsTold(t *testing.T) {
	for _, c := range []struct {
		answers string
		retries bool
		code    agent.Code // "" means that it is done
	}{
		{"ok", false, ""},
		{"unavailable", false, agent.CodeUnavailable},
		{"unknown", false, agent.CodeUnknown},
		{"cut", false, agent.CodeUnknown},
		{"half", false, agent.CodeUnknown},
		{"revision_mismatch", false, agent.CodeRevisionMismatch},
		{"request_expired", false, agent.CodeUnknown},
		{"unavailable ok", true, ""},
		{"unknown ok", true, ""},
		{"half cut overloaded ok", true, ""},
		{"unavailable", true, agent.CodeUnavailable},
		{"unknown unavailable", true, agent.CodeUnknown}, // the second attempt knows nothing of the first
		{"cut overloaded", true, agent.CodeUnknown},
		{"unknown revision_mismatch", true, agent.CodeRevisionMismatch}, // the log decided it for both
		{"invalid", true, agent.CodeInvalid},
		{"unauthenticated", true, agent.CodeUnauthenticated},
		{"unknown unauthenticated", true, agent.CodeUnknown}, // revoked since
		{"cut unauthenticated", true, agent.CodeUnknown},
		{"quota_exceeded", true, agent.CodeQuotaExceeded},
		{"unknown quota_exceeded", true, agent.CodeUnknown}, // not remembered: the first may apply once there is room
	} {
		t.Run(fmt.Sprintf("%s, retries %t", c.answers, c.retries), func(t *testing.T) {
			t.Parallel()
			// In virtual time an attempt ends at once, so the time runs out between two of them.
			synctest.Test(t, func(t *testing.T) {
				n := &node{answers: strings.Fields(c.answers), keys: map[string]int{}}
				client := httpclient.New(httpclient.Options{
					URLs: func() []string { return []string{"http://n1"} }, ID: "c", Retries: c.retries, Transport: serve(t, n),
				})
				defer client.Close() //nolint:errcheck // there are no calls
				// No attempt begins at the instant when the time ends.
				ctx, cancel := context.WithTimeout(t.Context(), time.Second+time.Millisecond)
				defer cancel()
				_, err := client.In("s").PutValue(ctx, agent.PutValue{Key: "k", Bytes: []byte("v")})
				if got := agent.CodeOf(err); got != c.code {
					t.Errorf("the outcome is %q (%v), want %q", got, err, c.code)
				}
				n.mu.Lock() // its last answer may not have come to an end
				defer n.mu.Unlock()
				if len(n.keys) != 1 || n.keys[""] > 0 {
					t.Errorf("one call has the keys %v", n.keys)
				}
			})
		})
	}
}

// serve serves a node in memory, and returns a transport whose connections all lead to it.
func serve(t *testing.T, n *node) *http.Transport {
	t.Helper()
	listener := memconn.NewListener(&net.TCPAddr{}, func() {})
	server := &http.Server{Handler: n, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute}
	go server.Serve(listener) //nolint:errcheck // the error of a server that is closed
	t.Cleanup(func() { _ = server.Close() })
	return &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		mine, theirs := net.Pipe()
		return mine, listener.Offer(theirs)
	}}
}

// A node that does not listen got no request, so another one is asked even without
// retries.
func TestANodeThatIsAwayIsPassedOver(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	server := httptest.NewServer(&node{answers: []string{"ok"}, keys: map[string]int{}})
	defer server.Close()
	client := httpclient.New(httpclient.Options{URLs: func() []string { return []string{gone.URL, server.URL} }, ID: "c", Transport: &http.Transport{}})
	defer client.Close() //nolint:errcheck // there are no calls
	if _, err := client.In("s").PutValue(t.Context(), agent.PutValue{Key: "k"}); err != nil {
		t.Error(err)
	}
	client = httpclient.New(httpclient.Options{URLs: func() []string { return []string{gone.URL} }, ID: "c", Transport: &http.Transport{}})
	if _, err := client.In("s").PutValue(t.Context(), agent.PutValue{Key: "k"}); agent.CodeOf(err) != agent.CodeUnavailable {
		t.Errorf("without any node: %v", err)
	}
}

// A node to which no connection came until the time ran out got no request.
func TestANodeThatIsNotReachedInTimeGotNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := httpclient.New(httpclient.Options{
			URLs: func() []string { return []string{"http://n1"} }, ID: "c",
			Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}},
		})
		defer client.Close() //nolint:errcheck // there are no calls
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := client.In("s").PutValue(ctx, agent.PutValue{Key: "k"}); agent.CodeOf(err) != agent.CodeUnavailable {
			t.Errorf("the outcome is %v", err)
		}
	})
}

// A node that ends within a call may have applied it, although the port is closed when
// the transport asks again.
func TestANodeThatEndsWithinACallLeavesItOpen(t *testing.T) {
	var server *httptest.Server
	calls := 0
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls == 1 { // leaves a connection that is used again
			w.Header().Set("Dormouse-Index", "7")
			_, _ = w.Write([]byte(`{"key":"k","incarnation":1,"revision":1,"index":7,"time":1,"results":[{"op":"put_value","incarnation":1,"revision":1}]}`))
			return
		}
		_ = server.Listener.Close()
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	client := httpclient.New(httpclient.Options{URLs: func() []string { return []string{server.URL} }, ID: "c", Transport: &http.Transport{}})
	defer client.Close() //nolint:errcheck // there are no calls
	for _, want := range []agent.Code{"", agent.CodeUnknown} {
		if _, err := client.In("s").PutValue(t.Context(), agent.PutValue{Key: "k"}); agent.CodeOf(err) != want {
			t.Errorf("the outcome is %v, want %q", err, want)
		}
	}
}

// A node of an older version does not name the op of a result; the ops that were sent do.
func TestAResultWithoutItsOpIsOfTheOpThatWasSent(t *testing.T) {
	got, err := httpclient.Committed(
		[]agent.Op{&agent.ClaimSession{Session: "s", Owner: "w"}, &agent.PutValue{Key: "k"}},
		[]byte(`{"index":7,"time":1,"results":[{"session":{"id":"s","agent":"a","status":"running"}},{"key":"k","revision":2}]}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := got.Results[0].(*agent.SessionResult); !ok || r.Session.ID != "s" {
		t.Errorf("the claim's result is %+v", got.Results[0])
	}
	if r, ok := got.Results[1].(*agent.ValueResult); !ok || r.Revision != 2 {
		t.Errorf("the put's result is %+v", got.Results[1])
	}
}
