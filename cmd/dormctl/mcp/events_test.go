package mcp

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/memstore"
)

// refusing is a service whose commits fail while it is down.
type refusing struct {
	agent.Service

	down bool
}

func (r *refusing) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if r.down {
		return agent.Result{}, agent.Errorf(agent.CodeUnavailable, "there is no leader")
	}
	return r.Service.Commit(ctx, c)
}

// The SDK sends and counts an event also if it could not be kept. A client that resumes after a later event gets all
// that came after it, and nothing else.
func TestAnEventThatWasNotKeptMovesNoOther(t *testing.T) {
	service := &refusing{Service: memstore.New()}
	e := newEvents(store{service, "acme"}, func(string) bool { return true })
	if err := e.Open(t.Context(), "s", listenStream); err != nil {
		t.Fatal(err)
	}
	const lost = agent.CommitEntriesMax + 5
	for i := range lost + 4 {
		service.down = 1 <= i && i <= lost
		if err := e.Append(t.Context(), "s", listenStream, []byte(fmt.Sprint(i))); (err != nil) != service.down {
			t.Fatalf("event %d: %v", i, err)
		}
	}
	for _, after := range []int{-1, 0, lost, lost + 1, lost + 3} {
		var want []string
		for i := after + 1; i < lost+4; i++ {
			if i == 0 || i > lost {
				want = append(want, fmt.Sprint(i))
			}
		}
		var got []string
		for data, err := range e.After(t.Context(), "s", listenStream, after) {
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > 0 { // the SDK skips empty ones
				got = append(got, string(data))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("after event %d: %v, want %v", after, got, want)
		}
	}
	if len(e.lost) != 0 {
		t.Errorf("%d streams are remembered", len(e.lost))
	}
}

// The stream that a client listens on lasts as long as its session, also without an event.
func TestAQuietStreamLastsAsLongAsItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store{memstore.New(), "acme"}
		own := newServer(backgroundOf(t.Context()), s, rand.Text)
		h := newHandler(s, func(*http.Request) *server { return own })
		own.AddReceivingMiddleware(h.remember)
		ask := func(session, body string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if session != "" {
				r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
				r.Header.Set(headerSession, session)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		session := ask("", initialize).Header().Get(headerSession)
		kept := newEvents(s, h.ended)
		if err := kept.Open(t.Context(), session, listenStream); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			time.Sleep(3 * time.Hour)
			if got := ask(session, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); got.Code != http.StatusOK {
				t.Fatal(got.Code)
			}
		}
		if _, err := find[*agent.Thread](t.Context(), s, &agent.GetThread{Thread: streamThread(session, listenStream)}); err != nil {
			t.Errorf("the stream of a session that is used: %v", err)
		}
		time.Sleep(2 * sessionTTL) // the session ends
	})
}

// What the parameters of a session may have is bounded, since dormctl keeps them with its own rights.
func TestLongParametersAreRefused(t *testing.T) {
	service := memstore.New()
	p := startProcess(t, service)
	long := strings.Replace(initialize, `"name":"`, `"name":"`+strings.Repeat("x", parametersBytesMax), 1)
	all := eventsOf(t, p.message(t, "", long), "")
	if got := all[len(all)-1].data; !strings.Contains(got, "at most 65536") {
		t.Error(got)
	}
	found, err := find[*agent.ValueList](t.Context(), store{service, "acme"}, &agent.ListValues{})
	if err != nil || len(found.Items) != 0 {
		t.Errorf("%d values were stored: %v", len(found.Items), err)
	}
}
