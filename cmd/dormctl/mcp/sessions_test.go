package mcp

import (
	"fmt"
	"strings"
	"testing"
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
