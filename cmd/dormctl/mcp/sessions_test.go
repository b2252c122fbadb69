package mcp

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent/memstore"
)

// A process keeps a bounded number of sessions. It closes the one that was used least recently, whose client goes on
// with its next request.
func TestTheSessionsOfAProcessAreBounded(t *testing.T) {
	p := startProcess(t, memstore.New())
	const most = 8
	if p.handler.most != sessionsMax {
		t.Fatalf("the limit is %d", p.handler.most)
	}
	p.handler.most = most
	begin := func() string {
		t.Helper()
		began := p.message(t, "", initialize)
		eventsOf(t, began, "")
		session := began.Header.Get(headerSession)
		p.message(t, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		return session
	}
	open := func() (n int) {
		for range p.own.Sessions() {
			n++
		}
		return n
	}
	first := begin()
	second := begin()
	for range most - 2 {
		begin()
	}
	if n := open(); n != most {
		t.Fatalf("%d sessions are open at the limit", n)
	}
	appendTo := func(session, thread string) {
		t.Helper()
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"thread_append","arguments":{"thread":%q,"entries":[{"kind":"note"}]}}}`, thread)
		all := eventsOf(t, p.message(t, session, body), "")
		if got := all[len(all)-1].data; !strings.Contains(got, `"rev":1`) {
			t.Fatalf("%s: %s", thread, got)
		}
	}
	appendTo(first, "used")
	begin()
	for late := time.Now().Add(10 * time.Second); open() != most; time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("%d sessions are open beyond the limit", open())
		}
	}
	if p.handler.knows(second) || !p.handler.knows(first) {
		t.Error("another session than the one that was used least recently was closed")
	}
	appendTo(second, "goes on")
	if p.handler.known.Len() != most {
		t.Errorf("%d sessions are known", p.handler.known.Len())
	}
}

const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`

// startHandler returns a handler without a network, for tests in virtual time.
func startHandler(t *testing.T, s store) *handler {
	t.Helper()
	own := newServer(backgroundOf(t.Context()), s, rand.Text)
	h := newHandler(s, func(*http.Request) *server { return own })
	own.AddReceivingMiddleware(h.remember)
	return h
}

// ask sends a message to a handler, and returns its answer.
func ask(t *testing.T, h *handler, session, body string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		r.Header.Set(headerSession, session)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// A session that is used lasts, also through another process than the one that began it. One that is not used for a
// day ends.
func TestASessionExpiresAfterADayWithoutUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store{memstore.New(), "acme"}
		start := func() *handler { return startHandler(t, s) }
		first, second := start(), start()
		session := ask(t, first, "", initialize).Header.Get(headerSession)
		ask(t, first, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		for _, used := range []*handler{first, second} {
			for hour := range 40 { // the other process closes its session after a day
				if got := ask(t, used, session, ping); got.StatusCode != http.StatusOK {
					t.Fatalf("hour %d: %s", hour, got.Status)
				}
				time.Sleep(time.Hour)
			}
		}
		time.Sleep(22 * time.Hour)
		if got := ask(t, start(), session, ping); got.StatusCode != http.StatusOK {
			t.Errorf("after 23 hours without use: %s", got.Status)
		}
		time.Sleep(26 * time.Hour)
		if got := ask(t, start(), session, ping); got.StatusCode != http.StatusNotFound {
			t.Errorf("after 26 hours without use: %s", got.Status)
		}
	})
}
